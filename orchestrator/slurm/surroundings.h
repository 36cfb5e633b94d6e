// What the login side of a study under Slurm has around it: clients, clock, a way to wait and to be told to stop. Tests bring their own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "orchestrator/slurm/client.h"
#include "orchestrator/slurm/fresh_look.h"

namespace rematch::slurm {

struct Surroundings {
  Client& client;
  std::int64_t user_id = 0;  // whose jobs they are
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<void(std::chrono::milliseconds)> pause;  // returns early when told to stop
  std::function<bool()> is_told_to_stop;                 // by SIGINT or SIGTERM
  std::function<bool(const std::filesystem::path& folder)> look_afresh = slurm::look_afresh;
};

}  // namespace rematch::slurm

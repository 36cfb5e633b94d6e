// The newest step of a trial that is running, read from the ends of its record files: cheap enough for twice a second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "schemas/protocol/trial.h"

namespace rematch::engine {

struct RunningSteps {
  std::int64_t num_steps_completed = 0;                  // by rank 0; of a prediction, whose ranks take turns, the mean
  std::optional<std::int64_t> hot_peak_allocated_bytes;  // largest lifetime peak of any rank; null before a first step
};

RunningSteps read_running_steps(const std::filesystem::path& attempt_folder, const protocol::Trial& trial);

}  // namespace rematch::engine

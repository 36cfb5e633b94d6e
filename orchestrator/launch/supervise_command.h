// The hidden verb by which rematch starts itself as a supervisor: `rematch supervise TRAINER ATTEMPT_FOLDER ATTEMPT [MASTER_PORT]`.
// Pure.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rematch::launch {

inline constexpr const char* kSuperviseVerb = "supervise";

struct SuperviseArguments {
  std::filesystem::path trainer;
  std::filesystem::path attempt_folder;
  std::int64_t attempt = 1;                 // 1-based
  std::optional<std::int64_t> master_port;  // given: one of the supervisors of a job step, each of which has a node's share of the ranks
};

std::vector<std::string> supervise_command(const SuperviseArguments& arguments);
// For programs that answer the hidden verb without a command line parser; nullopt when argv is anything else.
std::optional<SuperviseArguments> parse_supervise_command(int argc, const char* const* argv);

}  // namespace rematch::launch

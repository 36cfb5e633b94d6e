// The supervisor of one attempt: a process of its own, in a session of its own, between the controller and the ranks.
// It starts the ranks that the trial wants started, in one process group, hears of every exit at once, ends the attempt on failure, at the
// deadline, on request or when the controller is gone, leaves no descendant alive, and writes launch.json as its last deed. Its stdin is
// the control channel. Ranks of a prediction communicate with nobody: each has a group of its own, at most as many run at a time as the
// machine has cores, and one that fails ends no other.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rematch::launch {

// The hidden verb by which rematch starts itself as a supervisor: `rematch supervise TRAINER ATTEMPT_FOLDER ATTEMPT`.
inline constexpr const char* kSuperviseVerb = "supervise";

struct SuperviseArguments {
  std::filesystem::path trainer;
  std::filesystem::path attempt_folder;
  std::int64_t attempt = 1;
};

std::vector<std::string> supervise_command(const SuperviseArguments& arguments);
// For programs that answer the hidden verb without a command line parser; nullopt when argv is anything else.
std::optional<SuperviseArguments> parse_supervise_command(int argc, const char* const* argv);

// Bytes on the control channel; its end means that the controller is gone.
inline constexpr char kStopCleanly = 'c';
inline constexpr char kStopNow = 'k';

// How long each ending may take.
struct Graces {
  std::chrono::milliseconds settle{200};        // after a rank failed: others may end by themselves before SIGTERM
  std::chrono::milliseconds failed{1'000};      // SIGTERM to SIGKILL after a rank failed
  std::chrono::milliseconds stopped{2'000};     // SIGTERM to SIGKILL at the deadline, on request, or without a controller
  std::chrono::milliseconds stragglers{5'000};  // for the others after the first rank ended with 0
  std::chrono::milliseconds killed{10'000};     // from SIGKILL until all must be gone
};

// Carries the attempt out; returns the exit code of the supervisor: 0 when launch.json was written.
int supervise(const SuperviseArguments& arguments, const Graces& graces = {});

}  // namespace rematch::launch

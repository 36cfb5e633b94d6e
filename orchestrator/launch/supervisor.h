// The supervisor of one attempt: a process of its own, in a session of its own, between the controller and the ranks.
// It starts the ranks that the trial wants started, in one process group, hears of every exit at once, ends the attempt on failure, at the
// deadline, on request or when the controller is gone, leaves no descendant alive, and writes launch.json as its last deed. Its stdin is
// the control channel. Ranks of a prediction communicate with nobody: each has a group of its own, at most as many run at a time as the
// machine has cores, and one that fails ends no other. Of an attempt on several nodes there is one supervisor on each, with that node's
// share of the ranks: its record is a part, in a folder of the node's below the attempt's, and stdout tells the launcher how it goes.
#pragma once

#include <chrono>

#include "orchestrator/launch/supervise_command.h"

namespace rematch::launch {

// Bytes on the control channel; its end means that the controller is gone.
inline constexpr char kStopCleanly = 'c';
inline constexpr char kStopNow = 'k';
inline constexpr char kPeerFailed = 'p';  // on another node: ranks may end by themselves first, as after a failure on this one
inline constexpr char kPeersDone = 'd';   // those of another node, and these went on for longer than the grace for stragglers

// How long each ending may take.
struct Graces {
  std::chrono::milliseconds told{100};          // after a rank was told to end: whether the supervisor is told too
  std::chrono::milliseconds settle{200};        // after a rank failed: others may end by themselves before SIGTERM
  std::chrono::milliseconds failed{1'000};      // SIGTERM to SIGKILL after a rank failed
  std::chrono::milliseconds stopped{2'000};     // SIGTERM to SIGKILL at the deadline, on request, or without a controller
  std::chrono::milliseconds stragglers{5'000};  // for the others after the first rank ended with 0
  std::chrono::milliseconds killed{10'000};     // from SIGKILL until all must be gone
};

// Carries the attempt out; returns the exit code of the supervisor: 0 when launch.json was written.
int supervise(const SuperviseArguments& arguments, const Graces& graces = {});

}  // namespace rematch::launch

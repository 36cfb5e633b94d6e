// What the fake trainer does wrong, and where: the environment variable REMATCH_FAKE as JSON, narrowed to one rank of one trial.
//   {"rules": [{"arm": "moe", "rank": 1, "block": 0, "stage": "first_backward", "step": 0, "do": "oom"}, ...],
//    "sleep_us": 0, "step_time_us": 1000, "peak_bytes": null}
// A rule holds where all that it names agrees; one that names no stage and no step acts at the stage spawned. What it may do:
//   hang, hang_hard (SIGTERM ignored), exit (code), signal (number), flood (megabytes to stdout), hog (megabytes of memory), daemon (a
//   grandchild that leaves session and parent), torn (half a line, then exit with code), garbage (a line that is no record), oom, replay
//   (counts a replay of "moe").
// sleep_us is slept in each step, step_time_us is what the records say, peak_bytes replaces the peak of a rule's arm or rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/outcome.h"
#include "schemas/protocol/trial.h"

namespace rematch::tests {

struct Misdeed {
  std::string what;
  std::optional<protocol::Stage> stage;
  std::optional<std::int64_t> step;
  std::int64_t number = 0;  // code, signal or megabytes
};

struct Behaviour {
  std::vector<Misdeed> misdeeds;
  std::int64_t sleep_us = 0;
  std::int64_t step_time_us = 1000;
  std::optional<std::int64_t> peak_bytes;
};

// `text` may be empty: a trainer without faults. Throws std::runtime_error on a table that it cannot follow.
Behaviour parse_behaviour(const std::string& text, const protocol::Trial& trial, std::int64_t rank);

}  // namespace rematch::tests

// What may still come of a plan, round by round, and how many trials it can take at most: what `plan` shows before anything has run. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"

namespace rematch::strategy {

struct Round {
  std::string name;               // "narrow labels"
  std::vector<std::string> arms;  // that may run in it, beside the control
  std::int64_t num_trials_at_most = 0;
};

// Empty: everything is planned.
std::vector<Round> rounds_to_come(const base::StudyPlan& plan);

}  // namespace rematch::strategy

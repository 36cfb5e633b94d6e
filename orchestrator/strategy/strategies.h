// One file a strategy. Each takes a plan that awaits a decision and decides: see extend.h. Internal to strategy.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/strategy/growth.h"

namespace rematch::strategy {

// What a strategy looks at.
struct Results {
  const base::StudyRows& study;
  const base::StudyVerdict& verdict;

  const base::ArmVerdict& of(const std::string& arm) const;  // throws std::logic_error when there is none
};

enum class Step { kGrown, kAtItsEnd };

// blocks: auto. kAtItsEnd: every arm is decided or the last look is taken; `growth` then has the reason, and no stop yet.
struct Looked {
  Step step = Step::kAtItsEnd;
  std::string end_reason;
};
Looked add_blocks_until_decided(const Results& results, Growth& growth);

void decide_one_label(const Results& results, Growth& growth);
void decide_pairs(const Results& results, Growth& growth);
void decide_escalate(const Results& results, Growth& growth);

}  // namespace rematch::strategy

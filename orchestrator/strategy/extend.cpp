#include "orchestrator/strategy/extend.h"

#include <stdexcept>
#include <utility>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/strategy/strategies.h"

namespace rematch::strategy {

const base::ArmVerdict& Results::of(const std::string& arm) const {
  const base::ArmVerdict* found = base::find_arm(verdict, arm);
  if (found == nullptr) throw std::logic_error("the verdict has no arm " + arm);
  return *found;
}

std::optional<base::StudyPlan> extend(const base::StudyRows& so_far, const base::StudyVerdict& verdict) {
  const base::StudyPlan& plan = so_far.plan;
  if (!base::awaits_decision(plan)) return std::nullopt;
  Growth growth(plan);
  const Results results{so_far, verdict};
  const bool is_spoilt = verdict.conclusion == base::Conclusion::kControlInvalid || verdict.conclusion == base::Conclusion::kUnmatched;
  if (is_spoilt) return std::nullopt;  // no decision: these results may yet be replaced
  if (plan.strategy == "escalate")
    decide_escalate(results, growth);
  else if (plan.strategy == "pairs")
    decide_pairs(results, growth);
  else
    decide_one_label(results, growth);
  return std::move(growth).finished();
}

}  // namespace rematch::strategy

#include "orchestrator/rules/conclusion.h"

#include <algorithm>

#include "orchestrator/base/predicted.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/match.h"

namespace rematch::rules {

namespace {

using base::Conclusion;
using base::Outcome;
using base::RunVerdict;

bool failed_unexpectedly(const RunVerdict& run) {
  return run.outcome == Outcome::kFail && !(run.failure && run.failure->kind == protocol::FailureKind::kOom);
}

std::string why(const RunVerdict& run) {
  const std::string what = run.failure ? std::string(protocol::to_string(run.failure->kind)) + ": " + run.failure->message
                                       : run.shortfalls.front().rule + ": " + run.shortfalls.front().message;
  return run.arm + " (block " + std::to_string(run.block) + ", slot " + std::to_string(run.slot) + "): " + what;
}

// The first judged run of control or candidates that speaks against the study.
const RunVerdict* find_trouble(const base::StudyRows& study, const base::StudyVerdict& verdict, bool (*is_trouble)(const RunVerdict&),
                               const base::ArmVerdict& arm) {
  for (std::size_t index : judged_attempts(study, arm.arm))
    if (is_trouble(verdict.runs[index])) return &verdict.runs[index];
  return nullptr;
}

std::string unmatched_text(const base::StudyVerdict& verdict) {
  const base::Unmatched& first = verdict.unmatched.front();
  const std::size_t num = verdict.unmatched.size();
  return (num == 1 ? std::string("1 trial") : std::to_string(num) + " trials") +
         " may not be compared with the others of the group: " + first.trial_id + " (" + first.arm + ") differs from " + first.against +
         " in " + fields_text(first.differences);
}

bool spoils_control(const RunVerdict& run) { return run.outcome == Outcome::kInvalid || failed_unexpectedly(run); }

}  // namespace

bool meets_budget(const base::StudyPlan& plan, const base::ArmVerdict& arm) {
  if (arm.outcome != Outcome::kPass || !arm.figures) return false;
  return !plan.budget_per_rank_bytes || arm.figures->hot.allocated_bytes <= *plan.budget_per_rank_bytes;
}

Concluded conclude(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  for (const base::ArmVerdict& arm : verdict.arms)
    if (arm.is_control)
      if (const RunVerdict* run = find_trouble(study, verdict, spoils_control, arm)) {
        const char* what =
            run->outcome == Outcome::kInvalid ? "the control is not a control: " : "the control failed otherwise than by memory: ";
        return {Conclusion::kControlInvalid, what + why(*run)};
      }
  if (!verdict.unmatched.empty()) return {Conclusion::kUnmatched, unmatched_text(verdict)};
  for (const base::ArmVerdict& arm : verdict.arms)
    if (!arm.is_control)
      if (const RunVerdict* run = find_trouble(study, verdict, failed_unexpectedly, arm))
        return {Conclusion::kCandidateFailed, "a candidate ended in an unexpected way: " + why(*run)};
  auto meets = [&](const base::ArmVerdict& arm) { return meets_budget(study.plan, arm); };
  const bool is_complete = verdict.num_missing == 0 && !base::awaits_decision(study.plan);
  if (is_complete && std::none_of(verdict.arms.begin(), verdict.arms.end(), meets))
    return {Conclusion::kNoneMeetsBudget,
            std::string(base::is_predicted(study.plan) ? "no arm is predicted to complete" : "no arm passes") +
                (study.plan.budget_per_rank_bytes ? " within the budget" : "")};
  if (is_complete) return {};
  if (verdict.num_missing == 0) return {Conclusion::kUsable, "not complete: strategy " + study.plan.strategy + " has not come to its end"};
  return {Conclusion::kUsable,
          "not complete: " + std::to_string(verdict.num_missing) + " of " + std::to_string(verdict.num_planned) + " trials are missing"};
}

}  // namespace rematch::rules

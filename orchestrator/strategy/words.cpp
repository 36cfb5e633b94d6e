#include "orchestrator/strategy/words.h"

#include "orchestrator/base/number_text.h"
#include "orchestrator/rules/moved_failure.h"

namespace rematch::strategy {

namespace {

std::string runs_text(const base::ArmVerdict& arm, std::int64_t count) {
  return std::to_string(count) + " of " + std::to_string(arm.num_judged) + " runs";
}

std::string failure_text(const base::ArmVerdict& arm) {
  const std::string runs = " in " + runs_text(arm, arm.num_judged - arm.num_passed);
  if (!arm.failure) return "did not pass" + runs + (arm.reason.empty() ? "" : ": " + arm.reason);
  const base::Failure& failure = *arm.failure;
  std::string text =
      failure.kind == protocol::FailureKind::kOom ? "ran out of memory" : "failed (" + std::string(to_string(failure.kind)) + ")";
  text += " at " + rules::place_of(failure) + ", rank " + std::to_string(failure.rank) + runs;
  if (failure.allocated_bytes && failure.requested_bytes)
    text += " (" + base::bytes_text(*failure.requested_bytes) + " wanted beside " + base::bytes_text(*failure.allocated_bytes) + ")";
  return text;
}

}  // namespace

std::string ending_text(const base::ArmVerdict& arm, const std::optional<std::int64_t>& budget_bytes) {
  switch (arm.outcome) {
    case base::Outcome::kPass: break;
    case base::Outcome::kFail: return failure_text(arm);
    case base::Outcome::kBorderline: return "passed in " + runs_text(arm, arm.num_passed) + " only";
    case base::Outcome::kInactive:
    case base::Outcome::kInvalid:
    case base::Outcome::kSkipped:
    case base::Outcome::kInterrupted:
    case base::Outcome::kLost:
    case base::Outcome::kNotRun: return std::string(to_string(arm.outcome)) + (arm.reason.empty() ? "" : ": " + arm.reason);
  }
  const std::int64_t peak = arm.figures->hot.allocated_bytes;
  std::string text = "peaks at " + base::bytes_text(peak) + " on rank " + std::to_string(arm.figures->hot.rank);
  if (!budget_bytes) return text;
  const std::int64_t over = peak - *budget_bytes;
  return text + ", " + base::bytes_text(over > 0 ? over : -over) + (over > 0 ? " more" : " less") + " than the budget";
}

}  // namespace rematch::strategy

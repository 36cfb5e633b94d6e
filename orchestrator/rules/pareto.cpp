#include "orchestrator/rules/pareto.h"

#include <algorithm>

namespace rematch::rules {

namespace {

using base::ArmVerdict;

bool is_eligible(const ArmVerdict& arm) { return arm.outcome == base::Outcome::kPass && arm.figures && arm.figures->median_step_time_ns; }

bool dominates(const ArmVerdict& other, const ArmVerdict& arm) {
  const std::int64_t peak = arm.figures->hot.allocated_bytes;
  const double time = *arm.figures->median_step_time_ns;
  const std::int64_t other_peak = other.figures->hot.allocated_bytes;
  const double other_time = *other.figures->median_step_time_ns;
  return other_peak <= peak && other_time <= time && (other_peak < peak || other_time < time);
}

}  // namespace

void mark_pareto(std::vector<ArmVerdict>& arms) {
  for (ArmVerdict& arm : arms) {
    const auto beats = [&](const ArmVerdict& other) {
      return is_eligible(other) && other.group_id == arm.group_id && other.provenance == arm.provenance && dominates(other, arm);
    };
    arm.is_pareto = is_eligible(arm) && std::none_of(arms.begin(), arms.end(), beats);
  }
}

}  // namespace rematch::rules

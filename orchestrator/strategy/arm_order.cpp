#include "orchestrator/strategy/arm_order.h"

#include <algorithm>
#include <optional>

#include "orchestrator/base/number_text.h"
#include "orchestrator/rules/attribution.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/strategy/words.h"

namespace rematch::strategy {

std::vector<OrderedArm> in_order(const base::StudyRows& study, const base::ArmRow& control, const std::vector<base::ArmRow>& arms) {
  const auto peak = rules::control_attribution(study, control.arm);
  std::vector<std::pair<std::int64_t, OrderedArm>> bounded;
  for (const base::ArmRow& arm : arms) {
    const std::int64_t bound = peak ? rules::upper_bound_bytes(*peak, arm.recompute) : 0;
    const std::string reason = peak && !arm.is_control
                                   ? "it can take at most " + base::bytes_text(bound) + " of the " +
                                         base::bytes_text(protocol::total_bytes(peak->attribution)) + " that " + control.arm +
                                         " held on rank " + std::to_string(peak->rank) + " (" + std::string(to_string(peak->phase)) + ")"
                                   : "in the order of the model's parts: where the peak is was not measured";
    bounded.push_back({bound, {arm, arm.is_control ? "what the others of this group are set against" : reason}});
  }
  std::stable_sort(bounded.begin(), bounded.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<OrderedArm> ordered;
  for (auto& [bound, arm] : bounded) ordered.push_back(std::move(arm));
  return ordered;
}

}  // namespace rematch::strategy

// The arms of a report, parted so that two groups and two provenances never share a table or a plot. Pure.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "orchestrator/base/verdicts.h"

namespace rematch::report {

// Borrowed of the verdict.
struct ArmGroup {
  const base::GroupVerdict* group = nullptr;
  std::optional<protocol::Provenance> provenance;  // nullopt: no arm of the group has any number
  std::vector<const base::ArmVerdict*> arms;       // those without a provenance stand with the first
};

// In the order of the groups; a group that a strategy may have come to and did not is left out.
std::vector<ArmGroup> arm_groups(const base::StudyVerdict& verdict);
// A group that a strategy may have come to and did not is a decision, and is not shown. One that was refused says why.
bool is_shown(const base::StudyVerdict& verdict, const base::GroupVerdict& group);
// What `of_arm` makes of each arm that it makes something of, in their order.
template <typename OfArm>
auto of_arms(const base::StudyVerdict& verdict, OfArm of_arm) {
  std::vector<typename std::invoke_result_t<OfArm, const ArmGroup&, const base::ArmVerdict&>::value_type> made;
  for (const ArmGroup& part : arm_groups(verdict))
    for (const base::ArmVerdict* arm : part.arms)
      if (auto one = of_arm(part, *arm)) made.push_back(*std::move(one));
  return made;
}
// "Arms", "Arms, with expandable_segments".
std::string title_of(const std::string& title, const base::GroupVerdict& group);

}  // namespace rematch::report

// The arms of a report, parted so that two groups and two provenances never share a table or a plot. Pure.
#pragma once

#include <optional>
#include <string>
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
// "Arms", "Arms, with expandable_segments".
std::string title_of(const std::string& title, const base::GroupVerdict& group);

}  // namespace rematch::report

#include "orchestrator/report/arm_groups.h"

#include <algorithm>

namespace rematch::report {

namespace {

using base::ArmVerdict;
using protocol::Provenance;

// In the order in which the arms have them; one without a value of a group without any.
std::vector<std::optional<Provenance>> provenances_of(const std::vector<const ArmVerdict*>& arms) {
  std::vector<std::optional<Provenance>> provenances;
  for (const ArmVerdict* arm : arms)
    if (arm->provenance && std::count(provenances.begin(), provenances.end(), arm->provenance) == 0) provenances.push_back(arm->provenance);
  if (provenances.empty()) provenances.emplace_back(std::nullopt);
  return provenances;
}

}  // namespace

bool is_shown(const base::StudyVerdict& verdict, const base::GroupVerdict& group) {
  return group.variation.empty() || std::any_of(verdict.arms.begin(), verdict.arms.end(), [&](const ArmVerdict& arm) {
           return arm.group_id == group.group_id && (arm.num_planned > 0 || arm.outcome == base::Outcome::kInvalid);
         });
}

std::string title_of(const std::string& title, const base::GroupVerdict& group) {
  return title + (group.variation.empty() ? "" : ", with " + group.variation);
}

std::vector<ArmGroup> arm_groups(const base::StudyVerdict& verdict) {
  std::vector<ArmGroup> parts;
  for (const base::GroupVerdict& group : verdict.groups) {
    if (!is_shown(verdict, group)) continue;
    std::vector<const ArmVerdict*> arms;
    for (const ArmVerdict& arm : verdict.arms)
      if (arm.group_id == group.group_id) arms.push_back(&arm);
    const std::vector<std::optional<Provenance>> provenances = provenances_of(arms);
    for (const std::optional<Provenance>& provenance : provenances) {
      ArmGroup& part = parts.emplace_back(ArmGroup{&group, provenance, {}});
      for (const ArmVerdict* arm : arms)
        if (arm->provenance ? arm->provenance == provenance : provenance == provenances.front()) part.arms.push_back(arm);
    }
  }
  return parts;
}

}  // namespace rematch::report

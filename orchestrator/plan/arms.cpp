#include "orchestrator/plan/arms.h"

#include <algorithm>

#include "orchestrator/compat/rules.h"
#include "schemas/protocol/recompute_labels.h"

namespace rematch::plan {

using base::ArmRow;
using base::ArmStatus;
using protocol::FamilyDescription;

namespace {

std::string no_site_reason(const FamilyDescription& family, const std::string& label) {
  const auto row = std::find_if(family.labels.begin(), family.labels.end(), [&](const auto& sites) { return sites.label == label; });
  const bool has_reason = row != family.labels.end() && !row->no_site_reason.empty();
  return label + ": " + (has_reason ? row->no_site_reason : "family " + family.name + " has no such boundary");
}

void add_reason(ArmRow& arm, const std::string& reason) { arm.reason += (arm.reason.empty() ? "" : "; ") + reason; }

// Invalid where Megatron refuses the setting, else inactive where none of its labels has a site.
void judge(ArmRow& arm, const protocol::Trial& trial, const FamilyDescription& family) {
  for (const auto& violation : compat::violations(trial, family)) {
    if (violation.effect != compat::Effect::kRefuse) continue;
    arm.status = ArmStatus::kInvalid;
    arm.rule_ids.push_back(violation.id);
    add_reason(arm, violation.id + ": " + violation.reason);
  }
  if (arm.status == ArmStatus::kInvalid || arm.is_control) return;
  const bool active = std::any_of(arm.expected_sites.begin(), arm.expected_sites.end(), [](const auto& sites) { return sites.second > 0; });
  if (active) return;
  arm.status = ArmStatus::kInactive;
  for (const auto& label : *arm.recompute.recompute_modules) add_reason(arm, no_site_reason(family, label));
}

ArmRow make_arm(const spec::SweepSpec& spec, const FamilyDescription& family, ArmRow arm) {
  protocol::Trial trial = spec.common;
  trial.recompute = arm.recompute;
  for (const auto& label : arm.recompute.recompute_modules.value_or(std::vector<std::string>{}))
    arm.expected_sites[label] = protocol::count_sites(family, trial.model.fields, label);
  judge(arm, trial, family);
  return arm;
}

// A control without granularity is as empty as one with an empty list; it keeps a name of its own.
ArmRow control_arm(const spec::SweepSpec& spec) {
  ArmRow arm;
  arm.arm = spec.control.recompute_granularity ? protocol::arm_name({}) : "null";
  arm.is_control = true;
  arm.recompute = spec.control;
  return arm;
}

ArmRow candidate_arm(const spec::SweepSpec& spec, const spec::Candidate& candidate) {
  ArmRow arm;
  arm.arm = protocol::arm_name(candidate.labels);
  arm.recompute.recompute_granularity = "selective";
  arm.recompute.recompute_modules = candidate.labels;
  arm.recompute.core_revision = spec.common.recompute.core_revision;
  return arm;
}

}  // namespace

std::vector<ArmRow> expand_arms(const spec::SweepSpec& spec, const FamilyDescription& family) {
  std::vector<ArmRow> arms = {make_arm(spec, family, control_arm(spec))};
  for (const auto& candidate : spec.candidates) arms.push_back(make_arm(spec, family, candidate_arm(spec, candidate)));
  return arms;
}

}  // namespace rematch::plan

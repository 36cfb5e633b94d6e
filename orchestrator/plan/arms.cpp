#include "orchestrator/plan/arms.h"

#include <algorithm>
#include <stdexcept>

#include "schemas/protocol/recompute_arm.h"

namespace rematch::plan {

using base::ArmRow;
using base::ArmStatus;
using compat::Effect;
using protocol::FamilyDescription;

namespace {

const FamilyDescription& family_of(const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  for (const auto& family : trainer.families)
    if (family.name == spec.common.model.family) return family;
  throw std::logic_error("a sweep without problems names a family of the trainer; found '" + spec.common.model.family + "'");
}

protocol::LabelCounts expected_sites(const FamilyDescription& family, const protocol::FieldMap& fields,
                                     const protocol::RecomputeSpec& recompute) {
  protocol::LabelCounts sites;
  for (const auto& key : protocol::counted_keys(recompute)) {
    const auto num_layers = static_cast<std::int64_t>(protocol::layer_kinds(family, fields).of_layer.size());
    const bool is_full = recompute.recompute_granularity == "full";
    sites[key] = is_full ? protocol::num_checkpointed_groups(recompute, num_layers) : protocol::count_sites(family, fields, key);
  }
  return sites;
}

void add_reason(ArmRow& arm, const std::string& rule_id, const std::string& reason) {
  arm.rule_ids.push_back(rule_id);
  arm.reason += (arm.reason.empty() ? "" : "; ") + reason;
}

// Invalid where a rule refuses the setting, else inactive where it has no site at all.
void judge(ArmRow& arm, const std::vector<compat::Violation>& violations) {
  for (const auto& violation : violations) {
    if (violation.effect != Effect::kRefuse) continue;
    arm.status = ArmStatus::kInvalid;
    add_reason(arm, violation.id, to_string(violation));
  }
  const auto has_sites = [](const auto& sites) { return sites.second > 0; };
  const bool active = std::any_of(arm.expected_sites.begin(), arm.expected_sites.end(), has_sites);
  if (arm.status == ArmStatus::kInvalid || arm.is_control || active) return;
  arm.status = ArmStatus::kInactive;
  for (const auto& violation : violations)
    if (violation.effect == Effect::kIgnore) add_reason(arm, violation.id, violation.id + ": " + violation.detail);
}

ArmRow make_arm(const spec::SweepSpec& spec, const protocol::Describe& trainer, const protocol::RecomputeSpec& recompute) {
  ArmRow arm;
  arm.arm = protocol::arm_name(recompute);
  arm.is_control = protocol::counted_keys(recompute).empty();
  arm.recompute = recompute;
  arm.expected_sites = expected_sites(family_of(spec, trainer), spec.common.model.fields, recompute);
  judge(arm, violations_of(spec, trainer, recompute));
  return arm;
}

}  // namespace

std::vector<compat::Violation> violations_of(const spec::SweepSpec& spec, const protocol::Describe& trainer,
                                             const protocol::RecomputeSpec& recompute) {
  protocol::Trial trial = spec.common;
  trial.recompute = recompute;
  return compat::violations({trial, family_of(spec, trainer), trainer});
}

std::vector<ArmRow> expand_arms(const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  std::vector<ArmRow> arms = {make_arm(spec, trainer, spec.control)};
  for (const auto& candidate : spec.candidates) {
    ArmRow arm = make_arm(spec, trainer, candidate.recompute);
    if (arm.status == ArmStatus::kPlanned || !candidate.by_applicable) arms.push_back(std::move(arm));
  }
  return arms;
}

}  // namespace rematch::plan

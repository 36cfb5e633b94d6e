#include "orchestrator/plan/arms.h"

#include <algorithm>
#include <stdexcept>

#include "schemas/protocol/pipeline_layers.h"
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

// Of a whole model: each chunk of each pipeline rank is grouped by itself.
std::int64_t num_groups(const spec::SweepSpec& spec, const FamilyDescription& family, const protocol::RecomputeSpec& recompute) {
  const auto num_layers = static_cast<std::int64_t>(protocol::layer_kinds(family, spec.common.model.fields).of_layer.size());
  std::int64_t sum = 0;
  for (std::int64_t chunk : protocol::chunk_sizes(num_layers, spec.common.parallel))
    sum += protocol::num_checkpointed_groups(recompute, chunk);
  return sum;
}

protocol::LabelCounts expected_sites(const spec::SweepSpec& spec, const FamilyDescription& family,
                                     const protocol::RecomputeSpec& recompute) {
  protocol::LabelCounts sites;
  const bool is_full = recompute.recompute_granularity == "full";
  for (const auto& key : protocol::counted_keys(recompute))
    sites[key] = is_full ? num_groups(spec, family, recompute) : protocol::count_sites(family, spec.common.model.fields, key);
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
  arm.expected_sites = expected_sites(spec, family_of(spec, trainer), recompute);
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

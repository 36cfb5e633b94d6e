#include "orchestrator/plan/arms.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "orchestrator/plan/strategy_settings.h"
#include "orchestrator/plan/tiers.h"
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

void refuse(ArmRow& arm, const std::vector<compat::Violation>& violations) {
  for (const auto& violation : violations) {
    if (violation.effect != Effect::kRefuse) continue;
    arm.status = ArmStatus::kInvalid;
    add_reason(arm, violation.id, to_string(violation));
  }
}

// Invalid where a rule refuses the setting, else inactive where it has no site at all.
void judge(ArmRow& arm, const std::vector<compat::Violation>& violations) {
  refuse(arm, violations);
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

// Of the largest model chunk; full recompute counts within each.
std::int64_t num_layers_of_chunk(const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  const FamilyDescription& family = family_of(spec, trainer);
  const auto num_layers = static_cast<std::int64_t>(protocol::layer_kinds(family, spec.common.model.fields).of_layer.size());
  const auto sizes = protocol::chunk_sizes(num_layers, spec.common.parallel);
  return *std::max_element(sizes.begin(), sizes.end());
}

std::vector<std::string> labels_that_run(const std::vector<ArmRow>& arms) {
  std::vector<std::string> labels;
  for (const ArmRow& arm : arms)
    if (const auto& modules = arm.recompute.recompute_modules; arm.status == ArmStatus::kPlanned && modules && modules->size() == 1)
      labels.push_back(modules->front());
  return labels;
}

// Within a round by the widest label, in the architecture's order.
std::vector<std::size_t> places_of(const ArmRow& arm) {
  std::vector<std::size_t> places;
  for (const std::string& label : arm.recompute.recompute_modules.value_or(std::vector<std::string>{}))
    places.push_back(architecture_place(label));
  std::sort(places.rbegin(), places.rend());
  return places;
}

void sort_by_tier(std::vector<ArmRow>& arms) {
  std::stable_sort(arms.begin(), arms.end(), [](const ArmRow& a, const ArmRow& b) {
    return std::pair(tier_of(a), places_of(a)) < std::pair(tier_of(b), places_of(b));
  });
}

// The same arms on an allocator with expandable segments, for an escalation whose control ran out of memory by fragmentation.
void add_expandable_segments(const spec::SweepSpec& spec, std::vector<ArmRow>& arms) {
  if (spec.strategy_kind != "escalate" || spec.common.backend.expandable_segments || spec.common.prediction) return;
  const std::size_t num_arms = arms.size();
  for (std::size_t i = 0; i < num_arms; ++i) {
    if (arms[i].status != ArmStatus::kPlanned) continue;
    ArmRow arm = arms[i];
    arm.variation = "expandable_segments";
    arm.arm += " (expandable_segments)";
    arms.push_back(std::move(arm));
  }
}

bool can_offload(const protocol::Describe& trainer) {
  const auto& modes = trainer.optimizer_modes;
  return std::find(modes.begin(), modes.end(), "cpu_offloading=true") != modes.end();
}

// Activations moved to the host against a control that has no granularity, as Megatron wants it of both.
void add_cpu_offloading(const spec::SweepSpec& spec, const protocol::Describe& trainer, std::vector<ArmRow>& arms) {
  if (!spec.common.features.cpu_offloading || spec.common.prediction) return;
  for (const bool is_control : {true, false}) {
    ArmRow arm;
    arm.arm = is_control ? "null (cpu_offloading)" : "cpu_offloading";
    arm.variation = "cpu_offloading";
    arm.is_control = is_control;
    arm.recompute.core_revision = spec.common.recompute.core_revision;
    protocol::Trial trial = spec.common;
    trial.recompute = arm.recompute;
    refuse(arm, compat::violations({trial, family_of(spec, trainer), trainer}));
    if (!can_offload(trainer)) {
      arm.status = ArmStatus::kInvalid;
      arm.reason += (arm.reason.empty() ? "" : "; ") +
                    std::string("this trainer moves no activations to the host: its describe document does not list cpu_offloading=true");
    }
    arms.push_back(std::move(arm));
  }
}

}  // namespace

std::vector<compat::Violation> violations_of(const spec::SweepSpec& spec, const protocol::Describe& trainer,
                                             const protocol::RecomputeSpec& recompute) {
  protocol::Trial trial = spec.common;
  trial.features.cpu_offloading = false;  // that is an arm of another group
  trial.recompute = recompute;
  return compat::violations({trial, family_of(spec, trainer), trainer});
}

std::vector<ArmRow> expand_arms(const spec::SweepSpec& spec, const protocol::Describe& trainer) {
  std::vector<ArmRow> arms = {make_arm(spec, trainer, spec.control)};
  for (const auto& candidate : spec.candidates) {
    ArmRow arm = make_arm(spec, trainer, candidate.recompute);
    if (arm.status == ArmStatus::kPlanned || !candidate.by_applicable) arms.push_back(std::move(arm));
  }
  for (const auto& setting : strategy_settings(spec, labels_that_run(arms), num_layers_of_chunk(spec, trainer))) {
    ArmRow arm = make_arm(spec, trainer, setting);
    if (arm.status == ArmStatus::kPlanned) arms.push_back(std::move(arm));
  }
  if (spec.strategy_kind == "escalate") sort_by_tier(arms);
  add_expandable_segments(spec, arms);
  add_cpu_offloading(spec, trainer, arms);
  return arms;
}

}  // namespace rematch::plan

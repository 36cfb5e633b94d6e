#include "orchestrator/plan/tiers.h"

#include <algorithm>

#include "orchestrator/base/whole_module.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::plan {

namespace {

// A model has mla_up_proj or standard attention, so that core_attn is first where the other is absent.
constexpr std::array<std::string_view, 11> kFirstToLast = {
    "mla_up_proj", "core_attn", "moe_act", "layernorm", "gdn_norm_out", "gdp_in_proj", "gdp_qkv", "mhc", "shared_experts", "mlp", "moe"};

}  // namespace

std::string_view to_string(Tier tier) {
  switch (tier) {
    case Tier::kControl: return "control";
    case Tier::kNarrow: return "narrow labels";
    case Tier::kNarrowUnion: return "unions of narrow labels";
    case Tier::kWhole: return "whole modules";
    case Tier::kWholeUnion: return "unions with whole modules";
    case Tier::kFullBlock: return "full recompute, block";
    case Tier::kFullUniform: return "full recompute, uniform";
    case Tier::kOffloading: return "cpu offloading";
  }
  return "unknown";
}

bool is_nested_in(std::string_view inner, std::string_view outer) {
  if (outer == "moe") return inner == "moe_act" || inner == "shared_experts";
  return outer == "gdn" && inner == "gdn_norm_out";
}

Tier tier_of(const base::ArmRow& arm) {
  if (arm.variation == "cpu_offloading") return Tier::kOffloading;
  if (arm.is_control) return Tier::kControl;
  if (arm.recompute.recompute_granularity == "full")
    return arm.recompute.recompute_method == "block" ? Tier::kFullBlock : Tier::kFullUniform;
  const auto labels = protocol::counted_keys(arm.recompute);
  const bool has_whole = std::any_of(labels.begin(), labels.end(), base::is_whole_module);
  if (labels.size() == 1) return has_whole ? Tier::kWhole : Tier::kNarrow;
  return has_whole ? Tier::kWholeUnion : Tier::kNarrowUnion;
}

std::size_t architecture_place(std::string_view label) {
  return static_cast<std::size_t>(std::find(kFirstToLast.begin(), kFirstToLast.end(), label) - kFirstToLast.begin());
}

}  // namespace rematch::plan

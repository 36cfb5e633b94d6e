// A setting that meets no rule, for tests to change one thing of: one dense and three MoE layers with multi-latent attention.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "schemas/protocol/describe.h"
#include "schemas/protocol/trial.h"

namespace rematch::compat {

inline protocol::FamilyDescription sample_family() {
  protocol::FamilyDescription family;
  family.name = "mla_moe";
  family.layer_kind_field = "moe_layer_freq";
  family.layer_kinds = {"dense", "moe"};
  for (const char* label : {"core_attn", "mla_up_proj", "layernorm"}) family.labels.push_back({label, {{"dense", 1}, {"moe", 1}}, {}, ""});
  for (const char* label : {"moe_act", "moe"}) family.labels.push_back({label, {{"moe", 1}}, {}, "no MoE layer"});
  family.labels.push_back({"mlp", {{"dense", 1}}, {}, "no dense layer"});
  family.labels.push_back({"shared_experts", {{"moe", 1}}, "moe_shared_expert_intermediate_size", "no shared expert"});
  return family;
}

// A trainer with the families of the published example: dense_gqa, mla_moe, hybrid, gdn_moe.
inline protocol::Describe sample_trainer() {
  std::ifstream file(REMATCH_SOURCE_DIR "/schemas/examples/describe/valid-families.json");
  return protocol::parse_describe(nlohmann::json::parse(file));
}

inline void drop_label(protocol::FamilyDescription& family, const std::string& label) {
  family.labels.erase(std::remove_if(family.labels.begin(), family.labels.end(), [&](const auto& row) { return row.label == label; }),
                      family.labels.end());
}

inline protocol::Trial sample_setting() {
  protocol::Trial trial;
  trial.model.family = "mla_moe";
  trial.model.fields = {{"num_layers", std::int64_t{4}},      {"num_attention_heads", std::int64_t{4}},
                        {"num_moe_experts", std::int64_t{8}}, {"moe_layer_freq", std::vector<std::int64_t>{0, 1, 1, 1}},
                        {"moe_grouped_gemm", true},           {"moe_shared_expert_intermediate_size", std::int64_t{64}}};
  trial.recompute.recompute_granularity = "selective";
  trial.recompute.recompute_modules.emplace();
  trial.recompute.core_revision = "24bad8e6";
  return trial;
}

}  // namespace rematch::compat

// Family `mla_moe`: its fields, where its labels have regions, and its work per step. Presets: moonlight_16b.
#pragma once

#include "runtime/nn/mla.h"
#include "runtime/nn/moe.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/trial.h"

namespace rematch::models {

struct MlaMoeConfig {
  std::vector<bool> layer_is_moe;  // one entry a layer
  std::int64_t hidden_size = 0;
  std::int64_t ffn_hidden_size = 0;
  std::int64_t padded_vocab_size = 0;
  double layernorm_epsilon = 0;
  double init_method_std = 0;
  nn::MlaShape attention;
  nn::MoeShape moe;
};

protocol::FamilyDescription mla_moe_description();
// Throws base::BadTrial.
MlaMoeConfig mla_moe_config(const protocol::FieldMap& fields);
// Facts section 4: MLA, dense MLP, MoE and logits terms; 6 = 2 for a multiply-add times 3 for forward and both gradients.
double mla_moe_flops(const MlaMoeConfig& config, const protocol::TrainingSpec& training);

}  // namespace rematch::models

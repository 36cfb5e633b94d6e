// What the full-size presets come to: parameters and floating point operations against published figures; and what a family refuses.
#include <gtest/gtest.h>

#include "runtime/base/errors.h"
#include "runtime/models/model.h"
#include "runtime/models/presets.h"
#include "tests/runtime/contract/model_runs.h"

namespace rematch::tests {
namespace {

double billions_of_parameters(const std::string& preset) { return static_cast<double>(num_parameters(preset, {})) / 1e9; }

double teraflops(const std::string& preset, std::int64_t global_batch_size, std::int64_t seq_length) {
  const auto& family = models::family_named(preset_named(preset).family);
  const protocol::TrainingSpec training{
      .seq_length = seq_length, .micro_batch_size = 1, .global_batch_size = global_batch_size, .train_iters = 1};
  return family.flops_per_step(resolved_fields(preset, {}), training) / 1e12;
}

void expect_refused(const std::string& preset, const protocol::FieldMap& overrides, const std::string& part_of_message) {
  try {
    num_parameters(preset, overrides);
    FAIL() << "accepted";
  } catch (const base::BadTrial& error) {
    EXPECT_NE(std::string(error.what()).find(part_of_message), std::string::npos) << error.what();
  }
}

// Published figures: counted from the models' configurations to these digits.
TEST(Presets, HaveThePublishedNumberOfParameters) {
  EXPECT_NEAR(billions_of_parameters("moonlight_16b"), 15.960, 0.0005);
  EXPECT_NEAR(billions_of_parameters("nemotron_3_nano"), 31.578, 0.0005);
  EXPECT_NEAR(billions_of_parameters("llama3_70b"), 70.6, 0.05);
  EXPECT_NEAR(billions_of_parameters("qwen3_next_80b"), 80, 0.5);
  EXPECT_NEAR(billions_of_parameters("deepseek_v3"), 671.0, 0.5);
}

// Published figures: Moonlight at global batch size 4 and sequence length 4096, Nemotron 3 Nano at 16 and 8192.
TEST(Presets, HaveThePublishedWorkPerIteration) {
  EXPECT_NEAR(teraflops("moonlight_16b", 4, 4096), 281.03, 0.005);
  EXPECT_NEAR(teraflops("nemotron_3_nano", 16, 8192), 2920.03, 0.005);
}

TEST(Presets, EveryFamilyHasAFullSizeAndATinyOne) {
  for (const auto* family : models::families()) {
    int num_full = 0, num_tiny = 0;
    for (const auto& preset : models::presets())
      if (preset.family == family->describe().name) (preset.name.find("_tiny") == std::string::npos ? num_full : num_tiny) += 1;
    EXPECT_GE(num_full, 1) << family->describe().name;
    EXPECT_GE(num_tiny, 1) << family->describe().name;
  }
}

TEST(Families, RefuseWhatDoesNotFitTogetherNamingTheField) {
  expect_refused("moonlight_tiny", {{"moe_router_topk", std::int64_t{9}}},
                 "model.moe_router_topk: wanted at most num_moe_experts (8), found 9");
  expect_refused("moonlight_tiny", {{"qk_pos_emb_head_dim", std::int64_t{15}}}, "wanted an even number, found 15");
  expect_refused("moonlight_tiny", {{"num_layers", std::int64_t{4}}}, "model.moe_layer_freq: wanted one entry a layer (4), found 3");
  expect_refused("llama3_tiny", {{"num_query_groups", std::int64_t{3}}}, "wanted a divisor of num_attention_heads (8), found 3");
  expect_refused("llama3_tiny", {{"hidden_dropout", 1.0}}, "model.hidden_dropout");
  expect_refused("nemotron_3_nano_tiny", {{"hybrid_layer_pattern", std::string("MEX*E-")}}, "found 'X'");
  expect_refused("nemotron_3_nano_tiny", {{"hybrid_layer_pattern", std::string("ME")}}, "wanted one character a layer (6), found 2");
  expect_refused("nemotron_3_nano_tiny", {{"mamba_num_groups", std::int64_t{3}}}, "wanted a multiple of mamba_num_groups (3), found 8");
  expect_refused("qwen3_next_tiny", {{"linear_num_value_heads", std::int64_t{3}}},
                 "wanted a multiple of linear_num_key_heads (2), found 3");
  expect_refused("qwen3_next_tiny", {{"moe_router_enable_expert_bias", true}},
                 "wanted false with moe_router_score_function softmax, found true");
  expect_refused("qwen3_next_tiny", {{"linear_attention_freq", std::vector<std::int64_t>{1, 1, 1, 2}}},
                 "wanted 0 or 1 for every layer, found 2");
}

}  // namespace
}  // namespace rematch::tests

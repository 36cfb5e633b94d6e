#include "schemas/protocol/recompute_arm.h"

#include <gtest/gtest.h>

namespace rematch::protocol {
namespace {

using Labels = std::vector<std::string>;

RecomputeSpec selective(const Labels& labels) { return {.recompute_granularity = "selective", .recompute_modules = labels}; }

RecomputeSpec full(const char* method, std::int64_t num_layers) {
  return {.recompute_granularity = "full", .recompute_method = method, .recompute_num_layers = num_layers};
}

TEST(ArmName, JoinsLabelsInTheOrderGiven) {
  EXPECT_EQ(arm_name(selective({})), "[]");
  EXPECT_EQ(arm_name(selective({"moe_act"})), "moe_act");
  EXPECT_EQ(arm_name(selective({"moe_act", "layernorm"})), "moe_act+layernorm");
  EXPECT_EQ(arm_name({}), "null");
}

TEST(ArmName, NamesMethodAndLayersOfFullRecomputeAndNoLabels) {
  EXPECT_EQ(arm_name(full("uniform", 1)), "full:uniform:1");
  RecomputeSpec block = full("block", 2);
  block.recompute_modules = Labels{"moe"};
  EXPECT_EQ(arm_name(block), "full:block:2");
  block.distribute_saved_activations = true;
  EXPECT_EQ(arm_name(block), "full:block:2:distributed");
  EXPECT_EQ(arm_name({.recompute_granularity = "full"}), "full:unset:unset");
}

TEST(CountedKeys, AreTheLabelsThatTakeEffectOrFull) {
  EXPECT_EQ(counted_keys(selective({"moe_act", "mlp"})), (Labels{"moe_act", "mlp"}));
  RecomputeSpec with_idle_labels = full("block", 1);
  with_idle_labels.recompute_modules = Labels{"moe"};
  EXPECT_EQ(counted_keys(with_idle_labels), Labels{"full"});
  EXPECT_EQ(counted_keys({.recompute_modules = Labels{"moe"}}), Labels{});
}

TEST(CheckpointedGroups, OfUniformCoverAllLayersTheLastOneShort) {
  EXPECT_EQ(num_checkpointed_groups(full("uniform", 1), 5), 5);
  EXPECT_EQ(num_checkpointed_groups(full("uniform", 2), 5), 3);
  EXPECT_EQ(num_checkpointed_groups(full("uniform", 5), 5), 1);
}

TEST(CheckpointedGroups, OfBlockAreTheFirstLayers) {
  EXPECT_EQ(num_checkpointed_groups(full("block", 2), 5), 2);
  EXPECT_EQ(num_checkpointed_groups(full("block", 9), 5), 5);
}

TEST(CheckpointedGroups, AreNoneOfASettingThatIsNotComplete) {
  EXPECT_EQ(num_checkpointed_groups({.recompute_granularity = "full", .recompute_method = "uniform"}, 5), 0);
  EXPECT_EQ(num_checkpointed_groups({.recompute_granularity = "full", .recompute_num_layers = 2}, 5), 0);
}

}  // namespace
}  // namespace rematch::protocol

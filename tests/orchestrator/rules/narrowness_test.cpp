#include "orchestrator/rules/narrowness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rematch::rules {
namespace {

protocol::RecomputeSpec selective(const std::vector<std::string>& labels) {
  return {.recompute_granularity = "selective", .recompute_modules = labels};
}
protocol::RecomputeSpec full(const std::string& method, std::int64_t num_layers) {
  return {.recompute_granularity = "full", .recompute_method = method, .recompute_num_layers = num_layers};
}
protocol::RecomputeSpec distributed(protocol::RecomputeSpec recompute) {
  recompute.distribute_saved_activations = true;
  return recompute;
}

TEST(Narrowness, OrdersSettingsByTheirWidestLabelThenTheNextThenTheirNumber) {
  const std::vector<protocol::RecomputeSpec> narrow_to_wide = {
      selective({}),
      selective({"core_attn"}),
      selective({"layernorm"}),
      selective({"moe_act"}),
      selective({"layernorm", "moe_act"}),
      selective({"mla_up_proj"}),
      selective({"shared_experts"}),
      selective({"mlp"}),
      selective({"mla_up_proj", "mlp"}),
      selective({"moe"}),
      selective({"moe", "layernorm"}),
      selective({"mhc"}),  // a label of another revision: nothing is known of it
      full("block", 1),
      full("block", 2),
      distributed(full("block", 2)),
      full("block", 200),
      full("uniform", 1),
      full("uniform", 4),
  };
  for (std::size_t i = 1; i < narrow_to_wide.size(); ++i) EXPECT_LT(width_of(narrow_to_wide[i - 1]), width_of(narrow_to_wide[i])) << i;
}

TEST(Narrowness, DoesNotDependOnTheOrderOfTheLabels) {
  EXPECT_EQ(width_of(selective({"moe_act", "layernorm"})), width_of(selective({"layernorm", "moe_act"})));
}

}  // namespace
}  // namespace rematch::rules

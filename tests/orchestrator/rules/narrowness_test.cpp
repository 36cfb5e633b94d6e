#include "orchestrator/rules/narrowness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rematch::rules {
namespace {

protocol::RecomputeSpec selective(const std::vector<std::string>& labels) {
  return {"selective", labels, std::nullopt, std::nullopt, false, "24bad8e6"};
}
protocol::RecomputeSpec full(const std::string& method) { return {"full", std::nullopt, method, 1, false, "24bad8e6"}; }

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
      full("block"),
      full("uniform"),
  };
  for (std::size_t i = 1; i < narrow_to_wide.size(); ++i) EXPECT_LT(width_of(narrow_to_wide[i - 1]), width_of(narrow_to_wide[i])) << i;
}

TEST(Narrowness, DoesNotDependOnTheOrderOfTheLabels) {
  EXPECT_EQ(width_of(selective({"moe_act", "layernorm"})), width_of(selective({"layernorm", "moe_act"})));
}

}  // namespace
}  // namespace rematch::rules

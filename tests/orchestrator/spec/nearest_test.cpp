#include "orchestrator/spec/nearest.h"

#include <gtest/gtest.h>

namespace rematch::spec {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(edit_distance("moe_act", "moe_act"), 0u);
  EXPECT_EQ(edit_distance("moe_act", "moe_atc"), 1u);
  EXPECT_EQ(edit_distance("moe_act", "moe_at"), 1u);
  EXPECT_EQ(edit_distance("moe_act", "moe_acts"), 1u);
  EXPECT_EQ(edit_distance("moe_act", "mlp_act"), 2u);
  EXPECT_EQ(edit_distance("", "mlp"), 3u);
}

TEST(NearestName, IsTheOneThatNeedsTheFewestEdits) {
  EXPECT_EQ(nearest_name("layer_norm", {"layernorm", "mlp"}), "layernorm");
  EXPECT_EQ(nearest_name("shared_expert", {"moe", "shared_experts"}), "shared_experts");
}

TEST(NearestName, IsNotOfferedWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("completely_else", {"layernorm", "mlp", "moe"}), std::nullopt);
  EXPECT_EQ(nearest_name("xy", {"ab"}), std::nullopt);
}

TEST(UnknownNameMessage, ListsWhatIsKnownWithAndWithoutAGuess) {
  EXPECT_EQ(unknown_name_message("mpl", "a label", {"mlp", "moe"}), "'mpl' is not a label; did you mean 'mlp'? Known: mlp, moe");
  EXPECT_EQ(unknown_name_message("zzzzzz", "a label", {"mlp"}), "'zzzzzz' is not a label; known: mlp");
}

}  // namespace
}  // namespace rematch::spec

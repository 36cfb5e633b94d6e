#include "schemas/protocol/recompute_labels.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rematch::protocol {
namespace {

constexpr const char* kFullRevision = "24bad8e677d22625d86ef2a54c9506b6e4992c93";

TEST(RecomputeLabels, KnowsTheLabelsOfTheFirstRevision) {
  const std::vector<std::string> wanted = {"core_attn", "mla_up_proj", "layernorm",      "moe_act",
                                           "mlp",       "moe",         "shared_experts", "gdn_norm_out"};
  EXPECT_EQ(labels_of_revision("24bad8e6"), wanted);
}

TEST(RecomputeLabels, TakesARevisionShorterOrLongerThanTheTables) {
  EXPECT_EQ(labels_of_revision("24bad8e").size(), 8u);
  EXPECT_EQ(labels_of_revision(kFullRevision).size(), 8u);
  EXPECT_TRUE(find_label("moe_act", kFullRevision).has_value());
}

TEST(RecomputeLabels, RefusesARevisionThatIsTooShortUnknownOrNotHex) {
  EXPECT_TRUE(labels_of_revision("24bad8").empty());
  EXPECT_TRUE(labels_of_revision("").empty());
  EXPECT_TRUE(labels_of_revision("24bad8f").empty());
  EXPECT_TRUE(labels_of_revision("24bad8e6-dirty").empty());
  EXPECT_TRUE(labels_of_revision(std::string(kFullRevision) + "0").empty());
}

TEST(RecomputeLabels, SaysHowEachLabelWorks) {
  EXPECT_EQ(find_label("moe", "24bad8e6")->mechanism, Mechanism::kCheckpoint);
  EXPECT_EQ(find_label("moe_act", "24bad8e6")->mechanism, Mechanism::kOutputDiscarding);
  EXPECT_FALSE(find_label("attention", "24bad8e6").has_value());
}

TEST(RecomputeLabels, HasOneRowALabelAndRevision) {
  for (const LabelRow& row : label_rows()) {
    const auto same = [&row](const LabelRow& other) { return other.label == row.label && other.core_revision == row.core_revision; };
    EXPECT_EQ(std::count_if(label_rows().begin(), label_rows().end(), same), 1) << row.label;
    EXPECT_FALSE(row.discards.empty()) << row.label;
  }
}

TEST(ArmName, JoinsLabelsInTheOrderGiven) {
  EXPECT_EQ(arm_name({}), "[]");
  EXPECT_EQ(arm_name({"moe_act"}), "moe_act");
  EXPECT_EQ(arm_name({"moe_act", "layernorm"}), "moe_act+layernorm");
}

}  // namespace
}  // namespace rematch::protocol

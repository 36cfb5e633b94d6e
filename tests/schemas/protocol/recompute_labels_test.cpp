#include "schemas/protocol/recompute_labels.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rematch::protocol {
namespace {

using Labels = std::vector<std::string>;

const Labels kOfTheRelease = {"core_attn", "mla_up_proj", "layernorm", "moe_act", "mlp", "moe", "shared_experts"};

Labels and_also(Labels labels, const Labels& more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

TEST(RecomputeLabels, KnowsTheLabelsOfEachRevision) {
  EXPECT_EQ(labels_of_revision("0.16.1"), kOfTheRelease);
  EXPECT_EQ(labels_of_revision("24bad8e6"), and_also(kOfTheRelease, {"gdn_norm_out"}));
  EXPECT_EQ(labels_of_revision("d98e8a64"), and_also(kOfTheRelease, {"gdn_norm_out", "gdp_in_proj", "gdp_qkv", "mhc"}));
  EXPECT_EQ(labels_of_revision("d48bd6be"), and_also(kOfTheRelease, {"gdn_norm_out", "mhc", "gdn"}));
}

TEST(RecomputeLabels, TakesARevisionInAnySpelling) {
  EXPECT_EQ(labels_of_revision("main"), labels_of_revision("d98e8a6"));
  EXPECT_TRUE(find_label("moe_act", "24bad8e677d22625d86ef2a54c9506b6e4992c93").has_value());
  EXPECT_TRUE(labels_of_revision("24bad8f").empty());
}

TEST(RecomputeLabels, SaysHowEachLabelWorks) {
  EXPECT_EQ(find_label("moe", "24bad8e6")->mechanism, Mechanism::kCheckpoint);
  EXPECT_EQ(find_label("moe_act", "24bad8e6")->mechanism, Mechanism::kOutputDiscarding);
  EXPECT_EQ(find_label("gdn", "dev")->mechanism, Mechanism::kCheckpoint);
  EXPECT_EQ(find_label("mhc", "dev")->mechanism, Mechanism::kOutputDiscarding);
}

TEST(RecomputeLabels, FindsALabelOnlyInARevisionThatHasIt) {
  EXPECT_FALSE(find_label("gdn_norm_out", "0.16.1").has_value());
  EXPECT_FALSE(find_label("mhc", "24bad8e6").has_value());
  EXPECT_FALSE(find_label("gdn", "main").has_value());
  EXPECT_FALSE(find_label("attention", "24bad8e6").has_value());
}

TEST(RecomputeLabels, HasOneRowALabel) {
  for (const LabelRow& row : label_rows()) {
    const auto same = [&row](const LabelRow& other) { return other.label == row.label; };
    EXPECT_EQ(std::count_if(label_rows().begin(), label_rows().end(), same), 1) << row.label;
    EXPECT_FALSE(row.discards.empty()) << row.label;
    EXPECT_FALSE(row.core_revisions.empty()) << row.label;
  }
}

}  // namespace
}  // namespace rematch::protocol

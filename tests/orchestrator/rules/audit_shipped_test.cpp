// The audit of the tables that are shipped.
#include <gtest/gtest.h>

#include "tests/orchestrator/rules/audits.h"

namespace rematch::rules {
namespace {

using enum AuditSeverity;
using protocol::Published;

// As `rematch run --simulate` counts them of the sweeps beside the tables.
const WorkByFormula kMoonlightWork{281033954033664.0, "study moonlight"};
const WorkByFormula kNemotronWork{2.920034447917056e15, "study nemotron"};

TEST(AuditShipped, ConfirmsEachDifferenceOfMoonlightAndWarnsOfTheSpreadOfSteps) {
  const PublishedAudit audit = audit_published(shipped("moonlight_16b_8xh100"), kMoonlightWork);
  EXPECT_EQ(audit.deltas.size(), 11U);
  EXPECT_EQ(num_confirmed(audit), 11);
  EXPECT_EQ(num_contradicted(audit), 0);
  for (const AuditedWork& work : audit.work) {
    EXPECT_GE(*work.excess_fraction, 0.0020) << work.arm;
    EXPECT_LT(*work.excess_fraction, 0.0133) << work.arm;
    EXPECT_EQ(work.spread_fraction.has_value(), work.arm != "moe_act") << work.arm;
    EXPECT_LT(*work.spread_high_fraction, 0.14) << work.arm;
    if (!work.spread_fraction) continue;
    EXPECT_GT(*work.spread_low_fraction, 0.02) << work.arm;
    EXPECT_LT(*work.spread_low_fraction, *work.spread_fraction) << work.arm;
  }
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "all rows"), kWarning, "step times within a run spread by 7.8 to 11.5 %"));
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "all rows"), kWarning, "a formula that is off by 0.5 % leaves 0.0 to 13.5 %"));
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "moe_act"), kWarning, "not told apart"));
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "core_attn"), kWarning, "not told apart"));
  EXPECT_TRUE(any_says(findings_of(audit, "rounding", "core_attn"), kNote, "-0.015 to -0.005 %"));
  EXPECT_TRUE(any_says(findings_of(audit, "floor", "layernorm+moe_act"), kWarning, "out of reach of labels"));
  EXPECT_TRUE(any_says(findings_of(audit, "floor", "mla_up_proj+mlp"), kWarning, "out of reach of labels"));
}

TEST(AuditShipped, KeepsRowsOfNemotronThatAreNotComparableWithoutNumbers) {
  const PublishedAudit audit = audit_published(shipped("nemotron_3_nano_16xh100"), kNemotronWork);
  EXPECT_EQ(num_confirmed(audit), 5);
  EXPECT_EQ(num_contradicted(audit), 0);
  for (const char* arm : {"core_attn", "layernorm+moe_act"}) {
    EXPECT_NE(pair_of(audit, arm).no_comparison.find("completed no iteration in common"), std::string::npos) << arm;
    EXPECT_FALSE(pair_of(audit, arm).peak_delta_bytes) << arm;
  }
  EXPECT_EQ(basis_text(pair_of(audit, "moe_act")), "after iteration 1, not a pass");
  EXPECT_EQ(pair_of(audit, "moe_act").peak_delta_bytes, -4'194'000'000);
  EXPECT_EQ(basis_text(pair_of(audit, "moe+layernorm")), "reference, not control");
  EXPECT_EQ(pair_of(audit, "moe+layernorm").against, "moe");
  EXPECT_EQ(pair_of(audit, "moe+layernorm").peak_delta_bytes, -1'014'000'000);
  EXPECT_TRUE(any_has(audit.leaves_open, "no numbers to compare of core_attn and layernorm+moe_act"));
}

TEST(AuditShipped, FindsAllLimitsOfTheLlamaHistory) {
  const Published table = shipped("llama3_70b_32xh100");
  const PublishedAudit audit = audit_published(table, std::nullopt, labels_of(table));
  EXPECT_TRUE(any_has(audit.leaves_open, "No matched control"));
  EXPECT_TRUE(any_has(audit.leaves_open, "'golden throughput' is unpaired"));
  EXPECT_TRUE(any_has(audit.leaves_open, "one dense workload"));
  EXPECT_TRUE(any_has(audit.leaves_open, "multi-latent attention or mixtures of experts"));
  EXPECT_TRUE(any_has(audit.leaves_open, "does not rank labels"));
  EXPECT_EQ(basis_text(pair_of(audit, "mlp+core_attn")), "reference, not control; view not stated");
  EXPECT_TRUE(any_has(audit.supports, "a local trade-off of memory and throughput"));
  EXPECT_TRUE(any_says(findings_of(audit, "rounding", "mlp and mlp+core_attn"), kWarning, "equal to 100.0 MB only"));
  EXPECT_TRUE(any_says(findings_of(audit, "rounding", "core_attn and core_attn+layernorm"), kNote, "\"about\""));
}

TEST(AuditShipped, OfRowsWithoutFiguresClaimsNothing) {
  const PublishedAudit audit = audit_published(shipped("nemotron_3_nano_8xh100"));
  EXPECT_EQ(num_contradicted(audit), 0);
  EXPECT_TRUE(audit.work.empty());
  EXPECT_TRUE(findings_of(audit, "repeats").empty());
  EXPECT_TRUE(findings_of(audit, "control").empty()) << "it names no arm";
  EXPECT_FALSE(any_has(audit.leaves_open, "rank"));
}

}  // namespace
}  // namespace rematch::rules

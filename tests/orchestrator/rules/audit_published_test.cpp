// The audit of tables made in code with one thing wrong.
#include "orchestrator/rules/audit_published.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/orchestrator/made_up_table.h"
#include "tests/orchestrator/rules/audits.h"

namespace rematch::rules {
namespace {

using enum AuditSeverity;
using protocol::Published;
using tests::made_up_table;

const WorkByFormula kMadeUpWork{tests::kMadeUpFlops, "study made_up"};
TEST(AuditPublished, FindsNothingWrongInASoundTable) {
  const PublishedAudit audit = audit_published(made_up_table(), kMadeUpWork);
  EXPECT_EQ(num_contradicted(audit), 0);
  EXPECT_EQ(num_confirmed(audit), 4);
  EXPECT_EQ(audit.deltas.size(), 4U);
  EXPECT_TRUE(findings_of(audit, "units").empty());
  EXPECT_TRUE(any_says(findings_of(audit, "work"), kConfirmed, "one number within rounding"));
  EXPECT_TRUE(any_says(findings_of(audit, "control", "[]"), kConfirmed, "did not fail"));
}

TEST(AuditPublished, ContradictsADifferenceThatItsFiguresDoNotGive) {
  Published table = made_up_table();
  table.rows[1].deltas[1].percent = 4.4;
  const PublishedAudit audit = audit_published(table, kMadeUpWork);
  EXPECT_EQ(num_contradicted(audit), 1);
  const auto found = findings_of(audit, "deltas", "moe_act");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, kContradicted);
  EXPECT_EQ(found[0].published, "+4.40 %");
  EXPECT_EQ(found[0].recomputed, "+4.00 %");
}

TEST(AuditPublished, LetsADifferenceBeOffByWhatRoundingLeavesOpenAndNoMore) {
  for (const auto& [percent, verdict] : {std::pair(4.0, kConfirmed), {4.01, kConfirmed}, {4.02, kContradicted}}) {
    Published table = made_up_table();
    table.rows[1].deltas[1].percent = percent;  // of 104.00 / 100.00: 3.9898 to 4.0102, and half a unit of the printed digit
    EXPECT_EQ(audit_published(table).deltas[2].verdict, verdict) << percent;
  }
}

TEST(AuditPublished, ChecksAMagnitudeByItself) {
  Published table = made_up_table();
  table.rows[1].deltas[0].magnitude = tests::gigabytes(0.726);
  const PublishedAudit audit = audit_published(table);
  EXPECT_EQ(audit.deltas[0].verdict, kConfirmed);
  EXPECT_EQ(audit.deltas[1].verdict, kContradicted);
  EXPECT_EQ(audit.deltas[1].recomputed_bytes, 716'000'000);
}

TEST(AuditPublished, DoesNotCheckADifferenceWithoutAFigureAndSaysWhichIsMissing) {
  Published table = made_up_table();
  table.rows[1].step_time_ms.reset();
  const PublishedAudit audit = audit_published(table);
  EXPECT_EQ(audit.deltas[2].verdict, kNotCheckable);
  EXPECT_EQ(audit.deltas[2].reason, "moe_act has no step_time_ms");
  EXPECT_EQ(num_contradicted(audit), 0);
}

TEST(AuditPublished, FindsAFigureInGibibytesThatSaysGigabytes) {
  Published table = made_up_table();
  table.rows[1].peak_allocated->figure = tests::gigabytes(33.436);  // 35.902 GB
  const PublishedAudit audit = audit_published(table, kMadeUpWork);
  EXPECT_EQ(num_contradicted(audit), 2) << "the percentage and the bytes";
  const auto found = findings_of(audit, "units");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].subject, "moe_act");
  EXPECT_EQ(found[0].published, "33.436 GB");
  EXPECT_EQ(found[0].recomputed, "35.902 GB");
  EXPECT_NE(found[0].words.find("is in GiB"), std::string::npos);
}

TEST(AuditPublished, FindsAMagnitudeInMebibytesThatSaysMegabytes) {
  Published table = made_up_table();
  table.rows[1].deltas[0].magnitude = protocol::PublishedBytes{"683 MB", 683'000'000, 1'000'000, false};
  const auto found = findings_of(audit_published(table), "units");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].words.find("683 MB is in MiB"), std::string::npos);
}

TEST(AuditPublished, RefusesMoreThanADeviceHasAndMoreThanIsReserved) {
  Published table = made_up_table();
  table.rows[2].deltas.clear();
  table.rows[2].peak_allocated->figure = tests::gigabytes(86.1);
  EXPECT_TRUE(any_says(findings_of(audit_published(table), "units"), kContradicted, "more than a device of the stated hardware has"));
  table.rows[2].peak_allocated->figure = tests::gigabytes(85.8);
  EXPECT_TRUE(findings_of(audit_published(table), "units").empty()) << "80 GiB";
  table.rows[2].peak_reserved = protocol::PublishedPeak{tests::gigabytes(80), std::nullopt, std::nullopt, std::nullopt};
  EXPECT_TRUE(any_says(findings_of(audit_published(table), "units"), kContradicted, "more is allocated than reserved"));
}

TEST(AuditPublished, TakesAMemorySizeOfADeviceFromANumberBeforeAWholeUnit) {
  for (const auto& [hardware, num_found] : {std::pair("8 GB200 192GB", 0),
                                            {"8 GB200", 0},
                                            {"8 H200 141 GB HBM3e", 0},
                                            {"8 X9 3350 GB/s", 0},
                                            {"2 X9 80GiB", 1},
                                            {"2 X9-80GB", 1},
                                            {"4 GB200 80GB", 1}}) {
    Published table = made_up_table();
    table.source.hardware = hardware;
    table.rows[2].deltas.clear();
    table.rows[2].peak_allocated->figure = tests::gigabytes(120);
    EXPECT_EQ(findings_of(audit_published(table), "units").size(), static_cast<std::size_t>(num_found)) << hardware;
  }
}

struct WrongThroughput {
  const char* name;
  double factor;
  const char* check;
  const char* words;
};

class WrongThroughputs : public ::testing::TestWithParam<WrongThroughput> {};

TEST_P(WrongThroughputs, AreFoundByTheFormulaAndByTheOtherRows) {
  Published table = made_up_table();
  table.rows[1].tflops_per_gpu->value *= GetParam().factor;
  for (const auto& formula : {std::optional(kMadeUpWork), std::optional<WorkByFormula>()}) {
    const PublishedAudit audit = audit_published(table, formula);
    const auto found = findings_of(audit, GetParam().check, "moe_act");
    EXPECT_TRUE(any_says(found, kContradicted, GetParam().words)) << (formula ? "formula" : "rows");
    EXPECT_EQ(num_contradicted(audit), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(AuditPublished, WrongThroughputs,
                         ::testing::Values(WrongThroughput{"Plain", 1.2, "work", "one of the two is wrong"},
                                           WrongThroughput{"Lower", 0.9, "work", "one of the two is wrong"},
                                           WrongThroughput{"OfAllGpus", 2, "units", "of all GPUs together"},
                                           WrongThroughput{"DividedTwice", 0.5, "units", "divided by the number of GPUs twice"},
                                           WrongThroughput{"Thousand", 1000, "units", "GFLOP/s"},
                                           WrongThroughput{"Thousandth", 0.001, "units", "in seconds"},
                                           WrongThroughput{"Gibi", 1.0737, "units", "giga were 2^30"}),
                         [](const auto& param) { return std::string(param.param.name); });

TEST(AuditPublished, SaysWhenAllRowsCountTheWorkAnotherWay) {
  Published table = made_up_table();
  for (protocol::PublishedRow& row : table.rows) row.tflops_per_gpu->value *= 4.0 / 3;  // a replay counted in
  const PublishedAudit audit = audit_published(table, kMadeUpWork);
  EXPECT_TRUE(any_says(findings_of(audit, "work", "all rows"), kWarning, "the source counts another way"));
  EXPECT_TRUE(audit.spread_is_least);
  EXPECT_EQ(num_contradicted(audit), 0);
}

TEST(AuditPublished, KeepsTheFormulaThatHalfOfTheRowsFit) {
  Published table = made_up_table();
  table.rows.pop_back();
  table.rows[1].tflops_per_gpu->value /= 1000;  // PFLOP/s
  const PublishedAudit audit = audit_published(table, kMadeUpWork);
  EXPECT_TRUE(any_says(findings_of(audit, "units", "moe_act"), kContradicted, "throughput in PFLOP/s"));
  EXPECT_EQ(num_contradicted(audit), 1) << "not the control";
}

TEST(AuditPublished, ContradictsAnOnlyRowThatIsFarFromTheFormula) {
  Published table = made_up_table();
  table.rows.resize(1);
  table.rows[0].tflops_per_gpu->value *= 4.0 / 3;
  EXPECT_TRUE(any_says(findings_of(audit_published(table, kMadeUpWork), "work", "[]"), kContradicted, "one of the two is wrong"));
}

TEST(AuditPublished, KnowsNoSpreadWhereRoundingAloneExplainsTheRows) {
  Published table = made_up_table();
  const std::vector<std::pair<double, double>> figures = {{457, 78}, {459, 78}, {465, 77}};
  for (std::size_t i = 0; i < figures.size(); ++i) {
    table.rows[i].deltas.clear();
    table.rows[i].step_time_ms = protocol::PublishedMean{figures[i].first, 0, false, 11, 20};
    table.rows[i].tflops_per_gpu = protocol::PublishedMean{figures[i].second, 0, false, 11, 20};
  }
  const PublishedAudit audit = audit_published(table);
  EXPECT_TRUE(any_says(findings_of(audit, "work", "all rows"), kConfirmed, "one number within rounding"));
  EXPECT_TRUE(findings_of(audit, "spread").empty());
  for (const AuditedWork& row : audit.work) EXPECT_FALSE(row.spread_fraction) << row.arm;
  EXPECT_EQ(audit.times.at(0).stands, TimeStands::kSpreadNotKnown);
}

// Ten steps of which the mean of work / time exceeds work / mean time by `excess`.
Published spread_table(double excess_of_moe_act) {
  Published table = made_up_table();
  table.rows[1].tflops_per_gpu->value *= 1 + excess_of_moe_act;
  return table;
}

TEST(AuditPublished, ReadsTheSpreadOfStepsFromTheExcessOfThroughput) {
  const PublishedAudit audit = audit_published(spread_table(0.01), kMadeUpWork);
  EXPECT_NEAR(audit.work[1].excess_fraction.value(), 0.01, 1e-4);
  EXPECT_NEAR(audit.work[1].spread_fraction.value(), 0.1, 1e-3);
  EXPECT_EQ(audit.work[1].num_iterations, 10);
  EXPECT_NEAR(audit.work[1].standard_error_fraction.value(), 0.1 / 3, 1e-3);
  EXPECT_NEAR(audit.work[1].spread_low_fraction.value(), std::sqrt(0.01), 1e-3) << "more than row [] by 1 %, whatever the formula is off";
  EXPECT_NEAR(audit.work[1].spread_high_fraction.value(), std::sqrt(0.015), 2e-3);
  EXPECT_EQ(audit.times[0].stands, TimeStands::kNotToldApart) << "4 % where the mean is known to 3.3 %";
  EXPECT_EQ(audit.times[1].stands, TimeStands::kBeyondSpread);
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "moe_act"), kWarning, "not told apart"));
}

TEST(AuditPublished, DoesNotKnowASpreadThatTheFormulasOwnSlackMayBe) {
  Published table = made_up_table();
  for (protocol::PublishedRow& row : table.rows) row.tflops_per_gpu->value *= 1.004;
  const PublishedAudit audit = audit_published(table, kMadeUpWork);
  EXPECT_FALSE(audit.work[1].spread_fraction) << "0.4 % of work: the formula may be off by as much";
  EXPECT_EQ(audit.work[1].spread_low_fraction, 0);
  EXPECT_NEAR(audit.work[1].spread_high_fraction.value(), std::sqrt(0.009), 1e-3);
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "all rows"), kNotCheckable, "by no more than that may be off"));
  EXPECT_EQ(audit.times[0].stands, TimeStands::kWithinSpreadBounds) << "4 %";
  EXPECT_TRUE(any_has(audit.leaves_open, "does not tell the step time of moe_act from []"));
}

TEST(AuditPublished, KnowsALeastSpreadFromRowsThatDifferByLessThanTheFormulaMayBeOff) {
  const PublishedAudit audit = audit_published(spread_table(0.004), kMadeUpWork);
  EXPECT_FALSE(audit.work[1].spread_fraction);
  EXPECT_NEAR(audit.work[1].spread_low_fraction.value(), std::sqrt(0.004), 2e-3);
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "all rows"), kWarning, "by no more than that may be off"));
  EXPECT_EQ(audit.times[0].stands, TimeStands::kNotToldApart) << "4 %";
  EXPECT_EQ(audit.times[1].stands, TimeStands::kBeyondSpread) << "10 %";
}

TEST(AuditPublished, GivesARowBelowTheFormulaNoSpreadForFree) {
  const PublishedAudit audit = audit_published(spread_table(-0.004), kMadeUpWork);
  EXPECT_FALSE(audit.work[1].spread_fraction);
  EXPECT_GT(audit.work[1].spread_high_fraction.value(), 0.02);
  EXPECT_NE(audit.times[0].stands, TimeStands::kBeyondSpread);
}

TEST(AuditPublished, KnowsTheLeastSpreadOnlyWhereNoStudyCountedTheWork) {
  const PublishedAudit audit = audit_published(spread_table(0.01));
  EXPECT_TRUE(audit.spread_is_least);
  EXPECT_TRUE(any_says(findings_of(audit, "work"), kNotCheckable, "no study of the workspace"));
  EXPECT_NEAR(audit.work[1].spread_fraction.value(), 0.1, 1e-3);
  EXPECT_TRUE(any_says(findings_of(audit, "spread", "all rows"), kWarning, "spread by at least 9.9 %"));
  EXPECT_LT(*audit.work[1].spread_fraction, std::sqrt(*audit.work[1].excess_fraction)) << "less what rounding leaves open";
}

TEST(AuditPublished, FindsEachOfFourLimitsByItself) {
  Published table = made_up_table();  // a dense model
  table.rows = {tests::sound_row({"mlp"}, 55.6, 100), tests::sound_row({"core_attn"}, 55.6, 104), tests::sound_row({}, 40, 95)};
  table.rows[2].arm.reset();
  table.rows[2].recompute.reset();
  table.rows[2].description = "best so far";
  table.rows[2].peak_allocated.reset();
  table.setting.preset = "llama3_70b";
  const PublishedAudit audit = audit_published(table, kMadeUpWork, labels_of(table));
  EXPECT_TRUE(any_says(findings_of(audit, "control"), kWarning, "no row has a matched control"));
  EXPECT_TRUE(any_says(findings_of(audit, "control", "'best so far'"), kWarning, "unpaired"));
  EXPECT_TRUE(any_has(audit.leaves_open, "No matched control"));
  EXPECT_TRUE(any_has(audit.leaves_open, "'best so far' is unpaired"));
  EXPECT_TRUE(any_has(audit.leaves_open, "one dense workload"));
  EXPECT_TRUE(any_has(audit.leaves_open, "the model has no multi-latent attention or mixtures of experts or gated delta nets"));
  EXPECT_TRUE(any_has(audit.leaves_open, "does not rank labels"));
  EXPECT_TRUE(any_says(findings_of(audit, "rounding", "mlp and core_attn"), kWarning, "equal to 1.0 MB only"));
  EXPECT_EQ(basis_text(pair_of(audit, "core_attn")), "reference, not control");
}

TEST(AuditPublished, SaysOfTheModelNoMoreThanIsKnownOfIt) {
  Published table = shipped("moonlight_16b_8xh100");
  table.setting.layout.expert_model_parallel_size = 1;
  std::erase_if(table.rows, [](const protocol::PublishedRow& row) { return row.arm != "[]" && row.arm != "mla_up_proj+mlp"; });
  const PublishedAudit known = audit_published(table, std::nullopt, labels_of(table));
  EXPECT_FALSE(any_has(known.leaves_open, "dense"));
  EXPECT_TRUE(any_has(known.leaves_open, "no row recomputes a part of mixtures of experts; the model has no gated delta nets"));
  const PublishedAudit unknown = audit_published(table);
  EXPECT_TRUE(any_has(unknown.leaves_open, "It is of one workload ("));
  EXPECT_FALSE(any_has(unknown.leaves_open, "no row recomputes"));
  EXPECT_FALSE(any_has(unknown.leaves_open, "the model has no"));
  Published dense = shipped("llama3_70b_32xh100");
  std::erase_if(dense.rows, [](const protocol::PublishedRow& row) { return row.arm && row.arm->find("mlp") != std::string::npos; });
  EXPECT_TRUE(any_has(audit_published(dense, std::nullopt, labels_of(dense)).leaves_open, "one dense workload")) << "without a row of mlp";
}

TEST(AuditPublished, DoesNotFindThoseLimitsWhereThereAreNone) {
  Published table = made_up_table();
  table.setting.preset = "moonlight_16b";
  const PublishedAudit audit = audit_published(table, kMadeUpWork, labels_of(table));
  EXPECT_FALSE(any_has(audit.leaves_open, "No matched control"));
  EXPECT_FALSE(any_has(audit.leaves_open, "unpaired"));
  EXPECT_FALSE(any_has(audit.leaves_open, "dense"));
  EXPECT_FALSE(any_has(audit.leaves_open, "no row recomputes"));
}

TEST(AuditPublished, NamesRowsThatDifferInMoreThanRecompute) {
  Published table = made_up_table();
  table.rows[1].precision = "fp8";
  table.rows[2].peak_allocated->after_iteration = 1;
  table.rows[2].step_time_ms->first_iteration = 7;
  const PublishedAudit audit = audit_published(table);
  EXPECT_TRUE(any_says(findings_of(audit, "matching", "precision"), kWarning, "fp8: moe_act"));
  EXPECT_TRUE(any_says(findings_of(audit, "matching", "peak_allocated"), kWarning, "after iteration 1: mla_up_proj"));
  EXPECT_TRUE(any_says(findings_of(audit, "matching", "step_time_ms"), kWarning, "iterations 7 to 20: mla_up_proj"));
  EXPECT_FALSE(pair_of(audit, "mla_up_proj").peak_delta_bytes) << "peaks after different iterations are not subtracted";
  EXPECT_FALSE(pair_of(audit, "mla_up_proj").time_fraction) << "nor means over different ones";
  EXPECT_TRUE(pair_of(audit, "mla_up_proj").tflops_fraction);
  EXPECT_EQ(pair_of(audit, "moe_act").basis, PairBasis::kNone);
  EXPECT_EQ(pair_of(audit, "moe_act").no_comparison, "its precision is fp8, that of [] bf16");
  EXPECT_FALSE(pair_of(audit, "moe_act").peak_delta_bytes);
  EXPECT_TRUE(audit.times.empty());
}

TEST(AuditPublished, FindsAFloorOnlyBetweenRowsOfOnePrecision) {
  Published table = made_up_table();
  table.rows.push_back(tests::sound_row({"moe_act", "layernorm"}, 35.95, 120));
  EXPECT_EQ(findings_of(audit_published(table), "floor").size(), 1U);
  table.rows.back().precision = "fp8";
  EXPECT_TRUE(findings_of(audit_published(table), "floor").empty());
}

TEST(AuditPublished, MarksAPairWhosePeaksAreOfAViewThatNeitherRowStates) {
  Published table = made_up_table();
  EXPECT_EQ(basis_text(pair_of(audit_published(table), "moe_act")), "control");
  table.rows[0].peak_allocated->ranks.reset();
  table.rows[1].peak_allocated->ranks.reset();
  const PublishedAudit audit = audit_published(table);
  EXPECT_EQ(basis_text(pair_of(audit, "moe_act")), "control; view not stated");
  EXPECT_EQ(pair_of(audit, "moe_act").peak_delta_bytes, -716'000'000);
  EXPECT_EQ(basis_text(pair_of(audit, "mla_up_proj")), "control") << "of a view that the control's peak is not of";
  EXPECT_FALSE(pair_of(audit, "mla_up_proj").peak_delta_bytes);
}

TEST(AuditPublished, FindsEqualPeaksByTheirNumberAndOfOneViewAlone) {
  Published table = made_up_table();
  table.rows[0].peak_allocated->figure = {"55.6 GB", 55'600'000'000, 100'000'000, false};
  table.rows[1].peak_allocated->figure = {"55.60 GB", 55'600'000'000, 10'000'000, false};
  EXPECT_TRUE(any_says(findings_of(audit_published(table), "rounding", "[] and moe_act"), kWarning, "equal to 100.0 MB only"));
  EXPECT_EQ(findings_of(audit_published(table), "rounding", "[] and moe_act").at(0).published, "55.6 GB and 55.60 GB");
  table.rows[1].peak_allocated->after_iteration = 1;
  EXPECT_TRUE(findings_of(audit_published(table), "rounding", "[] and moe_act").empty());
}

TEST(AuditPublished, TakesTheFailedControlAsNoControl) {
  Published table = made_up_table();
  table.rows[0].outcome = {protocol::PublishedEnd::kOutOfMemory, 1, std::nullopt, std::nullopt, std::nullopt, ""};
  table.rows[0].peak_allocated->after_iteration = 1;
  table.rows[0].step_time_ms.reset();
  table.rows[0].tflops_per_gpu.reset();
  const PublishedAudit audit = audit_published(table);
  EXPECT_TRUE(any_says(findings_of(audit, "control", "[]"), kWarning, "ran out of memory"));
  EXPECT_EQ(pair_of(audit, "mla_up_proj").against, "moe_act");
  EXPECT_EQ(basis_text(pair_of(audit, "mla_up_proj")), "reference, not control");
  EXPECT_TRUE(any_has(audit.leaves_open, "The control [] failed"));
}

}  // namespace
}  // namespace rematch::rules

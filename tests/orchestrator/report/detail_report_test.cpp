#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/report/detail_tables.h"
#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/report/verdict_line_tables.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {
namespace {

base::Result<ReportModel> detail(const base::StudyRows& study, const std::string& trial_or_arm) {
  return make_detail_report(study, rules::judge_study(study), trial_or_arm);
}

const Table* find_table(const ReportModel& model, const std::string& key) {
  for (const Table& table : model.tables)
    if (table.key == key) return &table;
  return nullptr;
}

Cell fact_of(const ReportModel& model, const std::string& key) {
  for (const Fact& fact : model.header)
    if (fact.key == key) return fact.value;
  throw std::logic_error("no fact " + key);
}

TEST(DetailReport, ShowsEveryRunOfAnArmAndTheRanksPhasesAndStagesOfItsFirst) {
  const ReportModel model = detail(tests::clean_study().rows(), "moe_act").value();
  EXPECT_EQ(find_table(model, "runs")->rows.size(), 2U);
  EXPECT_EQ(find_table(model, "ranks")->rows.size(), 2U);
  EXPECT_EQ(find_table(model, "phases")->rows.size(), 2U * 4);  // build, forward, backward, optimizer
  EXPECT_EQ(find_table(model, "stages")->rows.size(), 2U * protocol::kAllStages.size());
  EXPECT_EQ(find_table(model, "steps")->rows.size(), 2U * 20);
}

TEST(DetailReport, ShowsTheJobAndTheNodeAndDevicesOfEachRankUnderSlurm) {
  base::StudyRows study = tests::clean_study().rows();
  const ReportModel local = detail(study, "moe_act").value();
  EXPECT_EQ(find_table(local, "ranks")->columns.at(1).key, "host");
  for (base::AttemptRows& attempt : study.attempts) {
    attempt.launch.allocation = protocol::Allocation{42, 40, 2, 1, "00c0ffee00c0ffee"};
    attempt.launch.nodes = {{"n1", "node-a", "0,1", std::nullopt}, {"n2", "node-a", "2,3", std::nullopt}};
    attempt.ranks[1].exit.node = 1;
  }
  const ReportModel model = detail(study, "moe_act").value();
  EXPECT_EQ(std::get<std::string>(fact_of(model, "job")), "42, element 2 of array 40, requeued 1 times");
  EXPECT_EQ(std::get<std::string>(fact_of(model, "nodes")), "n1, n2");
  const Table& ranks = *find_table(model, "ranks");
  EXPECT_EQ(std::get<std::string>(ranks.rows[1][1]), "n2");
  EXPECT_EQ(std::get<std::string>(ranks.rows[1][2]), "2,3");
}

TEST(DetailReport, ShowsTheEvidenceOfAFailureAndItsMessages) {
  const std::string text = render(detail(tests::capacity_study().rows(), "core_attn").value(), "md").value();
  for (const char* part : {"requested:", "64.000 MB", "first_forward", "oom at layer.2.mlp.experts", "not left", "replay"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(DetailReport, ShowsWhatTheHotRanksPeakIsMadeOfAndWhatEachLabelCanTakeAwayAtMost) {
  const ReportModel model = detail(tests::clean_study().rows(), "[]").value();
  const Table& parts = *find_table(model, "peak_attribution");
  EXPECT_EQ(parts.title, "What the peak is made of (rank 0, backward of step 0)");
  std::int64_t sum = 0;
  double shares = 0;
  for (const auto& row : parts.rows) {
    sum += std::get<Bytes>(row[2]).value;
    shares += std::get<Fraction>(row[3]).value;
  }
  EXPECT_EQ(sum, 1000 * tests::kMegabyte);
  EXPECT_DOUBLE_EQ(shares, 1);
  const Table& bounds = *find_table(model, "upper_bounds");
  ASSERT_EQ(bounds.rows.size(), 4U);  // three labels that the model has regions of, and the rest
  const std::vector<std::pair<std::string, std::int64_t>> wanted = {
      {"moe", 200}, {"moe_act", 120}, {"core_attn", 20}, {"no label covers this", 380}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(std::get<std::string>(bounds.rows[i][0]), wanted[i].first);
    EXPECT_EQ(std::get<Bytes>(bounds.rows[i][1]).value, wanted[i].second * tests::kMegabyte);
  }
  EXPECT_NE(render(model, "md").value().find("| activations     | moe/moe_act | 120.000 MB | 12.00 % |"), std::string::npos)
      << render(model, "md").value();
}

TEST(DetailReport, ShowsTheHotOneOfTheRanksThatWereStarted) {
  tests::StudyBuilder builder("simulated", {.world_size = 4, .pipeline_model_parallel_size = 2});
  base::AttemptRows& run = builder.run("[]", {.extra_bytes = {{2, 30 * tests::kMegabyte}}});
  std::erase_if(run.ranks, [](const base::RankRows& rank) { return rank.rank % 2 == 1; });
  const ReportModel model = detail(builder.rows(), "[]").value();
  EXPECT_EQ(find_table(model, "ranks")->rows.size(), 2U);
  EXPECT_EQ(find_table(model, "peak_attribution")->title, "What the peak is made of (rank 2, backward of step 0)");
  ASSERT_EQ(find_table(model, "upper_bounds")->rows.size(), 4U);
  EXPECT_EQ(std::get<Bytes>(find_table(model, "upper_bounds")->rows[0][1]).value, 200 * tests::kMegabyte);
}

TEST(DetailReport, ShowsWhatTheFailingRankHeldWhenItRanOutOfMemory) {
  const ReportModel model = detail(tests::capacity_study().rows(), "moe_act").value();
  EXPECT_EQ(find_table(model, "peak_attribution")->title, "What the peak is made of (rank 0, out of memory in backward of step 3)");
}

TEST(DetailReport, ShowsWhatTheHotRankCommunicatedByAxisAndPassAndWhatOfItWasReplayed) {
  const ReportModel model = detail(tests::clean_study().rows(), "moe_act").value();
  const Table& table = *find_table(model, "communication");
  EXPECT_EQ(table.title, "Communication (rank 0, step 19)");
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(std::get<std::string>(table.rows[0][0]), "dp");
  EXPECT_EQ(std::get<std::string>(table.rows[3][1]), "replay");
  EXPECT_EQ(std::get<Count>(table.rows[3][3]).value, 6);
  EXPECT_EQ(std::get<Bytes>(table.rows[3][4]).value, 3 * tests::kMegabyte);
  EXPECT_EQ(std::get<Nanoseconds>(table.rows[3][5]).value, 320'000);
  EXPECT_NE(render(model, "md").value().find("replayed communication:"), std::string::npos);
  const ReportModel control = detail(tests::clean_study().rows(), "[]").value();
  EXPECT_EQ(std::get<Bytes>(fact_of(control, "replayed_communication_bytes")).value, 0) << "measured, and none";
}

TEST(DetailReport, HasNoCommunicationOfARankThatWorksAlone) {
  tests::StudyBuilder builder("alone", {.world_size = 1});
  for (base::RankRows& rank : builder.run("[]").ranks)
    for (protocol::StepRecord& step : rank.steps) step.communication.clear();
  const ReportModel model = detail(builder.rows(), "[]").value();
  EXPECT_EQ(find_table(model, "communication"), nullptr);
  for (const Fact& fact : model.header) EXPECT_NE(fact.key, "replayed_communication_bytes");
}

TEST(DetailReport, ShowsBothRanksInBothArmsWhereTheHotRankMoved) {
  tests::StudyBuilder builder("moved", {.world_size = 4, .pipeline_model_parallel_size = 4});
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act", {.backward_peak_bytes = 900 * tests::kMegabyte, .extra_bytes = {{3, 5 * tests::kMegabyte}}});
  const ReportModel model = detail(builder.rows(), "moe_act").value();
  const Table& table = *find_table(model, "moved_ranks");
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(std::get<std::string>(table.rows[1][4]), "3 of 4");
  EXPECT_EQ(std::get<Bytes>(table.rows[1][6]).value, 800 * tests::kMegabyte);
  EXPECT_EQ(std::get<Bytes>(table.rows[1][8]).value, 905 * tests::kMegabyte);
  EXPECT_EQ(find_table(detail(builder.rows(), "[]").value(), "moved_ranks"), nullptr);
}

TEST(DetailReport, SaysThatNoLabelCanHelpWhereTheOptimizersPhaseBinds) {
  tests::StudyBuilder builder("bound");
  builder.run("[]", {.optimizer_peak_bytes = 1200 * tests::kMegabyte});
  EXPECT_NE(render(detail(builder.rows(), "[]").value(), "md").value().find("no label can help: the peak of rank 0 is in optimizer"),
            std::string::npos);
}

TEST(DetailReport, SaysThatAnAttributionWasNotMeasuredAndShowsNoTableOfIt) {
  tests::StudyBuilder builder("cuda");
  for (base::RankRows& rank : builder.run("[]").ranks)
    for (protocol::StepRecord& step : rank.steps) step.peak_attribution.reset();
  const ReportModel model = detail(builder.rows(), "[]").value();
  EXPECT_EQ(find_table(model, "peak_attribution"), nullptr);
  ASSERT_EQ(model.notes.size(), 1U);
  EXPECT_NE(model.notes[0].find("was not measured"), std::string::npos);
}

TEST(DetailReport, FindsATrialByThePrefixOfItsId) {
  const base::StudyRows study = tests::clean_study().rows();
  EXPECT_TRUE(detail(study, study.plan.trials[5].trial_id));
  EXPECT_NE(detail(study, "0000").error().message.find("begins 8 trial ids"), std::string::npos);
}

TEST(DetailReport, NamesTheArmsWhenThereIsNoSuchOne) {
  EXPECT_NE(detail(tests::clean_study().rows(), "mlp").error().message.find("its arms are: [], core_attn, moe_act, gdn_norm_out"),
            std::string::npos);
  EXPECT_FALSE(detail(tests::clean_study().rows(), ""));
}

TEST(DetailReport, SaysOfAnArmThatWasNotRunWhyAndWhatToType) {
  const ReportModel inactive = detail(tests::clean_study().rows(), "gdn_norm_out").value();
  ASSERT_EQ(inactive.tables.size(), 1U) << "no rows of any run";
  EXPECT_EQ(std::get<std::string>(fact_of(inactive, "verdict")), "inactive");
  EXPECT_NE(render(inactive, "md").value().find("- outcome, inactive: no gated delta net layer\n- next, rematch explain gdn_norm_out:"),
            std::string::npos)
      << render(inactive, "md").value();
  const ReportModel not_run = detail(tests::StudyBuilder("empty").rows(), "[]").value();
  EXPECT_EQ(std::get<std::string>(fact_of(not_run, "next_command")), "rematch run sweeps/empty.yaml");
}

TEST(DetailReport, BeginsWithTheVerdictOfTheArmAndTheConditionsOfTheRunShown) {
  const ReportModel model = detail(tests::capacity_study().rows(), "moe_act").value();
  const Table& lines = model.tables.front();
  ASSERT_EQ(lines.key, "verdict_lines");
  EXPECT_EQ(std::get<std::string>(lines.rows[0][0]), "outcome");
  EXPECT_EQ(std::get<std::string>(lines.rows[1][0]), "run");
  EXPECT_EQ(std::get<std::string>(lines.rows[2][0]), "failure");
  EXPECT_EQ(std::get<std::string>(lines.rows.back()[0]), "next");
  EXPECT_EQ(std::get<std::string>(fact_of(model, "verdict")), "fail; memory not a pass");
}

TEST(DetailReport, ShowsTheRunThatFailedOfAnArmThatStandsAtTheEdge) {
  tests::StudyBuilder builder("edge");
  builder.run("[]");
  builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1);
  const ReportModel model = detail(builder.rows(), "[]").value();
  EXPECT_EQ(std::get<std::string>(fact_of(model, "failure_kind")), "oom");
  EXPECT_TRUE(std::get<std::string>(fact_of(model, "verdict")).starts_with("borderline"));
}

TEST(DetailReport, FindsTheSameOfAnArmInTheReportOfItsStudy) {
  const base::StudyRows study = tests::capacity_study().rows();
  const base::StudyVerdict verdict = rules::judge_study(study);
  const ReportModel report = make_report(study, verdict);
  const auto table = std::find_if(report.tables.begin(), report.tables.end(), [](const Table& each) { return each.key == "arm_verdicts"; });
  ASSERT_TRUE(table != report.tables.end());
  for (const base::ArmVerdict& arm : verdict.arms) {
    const auto wanted = rules::arm_lines(study.plan, verdict, arm);
    const auto found = lines_of_arm(*table, arm.arm);
    ASSERT_EQ(found.size(), wanted.size()) << arm.arm;
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(found[i].text, wanted[i].text);
  }
}

TEST(ReplayCommand, StartsEveryRankWithItsEnvironmentAndQuotesWhatTheShellWouldSplit) {
  EXPECT_EQ(replay_command(tests::clean_study().rows().attempts[0]),
            "for r in 0 1; do env MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 RANK=$r LOCAL_RANK=$r /opt/rematch-train --trial "
            "'/runs/trial one/trial.json' & done; wait");
}

TEST(ReplayCommand, OfSeveralNodesIsAJobStep) {
  base::AttemptRows attempt = tests::clean_study().rows().attempts[0];
  attempt.launch.nodes = {{"n1", "node-a", std::nullopt, std::nullopt}, {"n2", "node-b", std::nullopt, std::nullopt}};
  attempt.launch.command = {"/opt/rematch-train", "--trial", "/runs/trial.json"};
  EXPECT_EQ(replay_command(attempt),
            "srun --nodes=2 --ntasks-per-node=1 --cpu-bind=none bash -c 'env MASTER_PORT=29500 MASTER_ADDR=$SLURM_LAUNCH_NODE_IPADDR "
            "RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID /opt/rematch-train --trial /runs/trial.json'");
}

}  // namespace
}  // namespace rematch::report

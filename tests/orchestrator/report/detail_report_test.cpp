#include <gtest/gtest.h>

#include "orchestrator/report/detail_tables.h"
#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"
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

TEST(DetailReport, ShowsEveryRunOfAnArmAndTheRanksPhasesAndStagesOfItsFirst) {
  const ReportModel model = detail(tests::clean_study().rows(), "moe_act").value();
  EXPECT_EQ(find_table(model, "runs")->rows.size(), 2U);
  EXPECT_EQ(find_table(model, "ranks")->rows.size(), 2U);
  EXPECT_EQ(find_table(model, "phases")->rows.size(), 2U * 4);  // build, forward, backward, optimizer
  EXPECT_EQ(find_table(model, "stages")->rows.size(), 2U * protocol::kAllStages.size());
  EXPECT_EQ(find_table(model, "steps")->rows.size(), 2U * 20);
}

TEST(DetailReport, ShowsTheEvidenceOfAFailureAndItsMessages) {
  const std::string text = render(detail(tests::capacity_study().rows(), "core_attn").value(), "md").value();
  for (const char* part : {"requested:", "64.000 MB", "first_forward", "oom at layer.2.mlp.experts", "not left", "replay"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
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

TEST(DetailReport, SaysWhyAnArmWasNotRun) {
  EXPECT_NE(detail(tests::clean_study().rows(), "gdn_norm_out").error().message.find("no gated delta net layer"), std::string::npos);
  EXPECT_NE(detail(tests::StudyBuilder("empty").rows(), "[]").error().message.find("no attempt yet"), std::string::npos);
}

TEST(ReplayCommand, StartsEveryRankWithItsEnvironmentAndQuotesWhatTheShellWouldSplit) {
  EXPECT_EQ(replay_command(tests::clean_study().rows().attempts[0]),
            "for r in 0 1; do env MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 RANK=$r LOCAL_RANK=$r /opt/rematch-train --trial "
            "'/runs/trial one/trial.json' & done; wait");
}

}  // namespace
}  // namespace rematch::report

#include "orchestrator/report/diagnosis_table.h"

#include <gtest/gtest.h>

#include "orchestrator/report/format.h"
#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::report {
namespace {

std::string diagnosis_of(const base::StudyRows& study, const std::optional<std::string>& arm = std::nullopt) {
  return render(make_diagnosis_report(make_report(study, rules::judge_study(study)), study.plan.name, arm), "md").value();
}

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in: " << text;
}

TEST(DiagnosisReport, GivesFindingReasonWhatWasRuledOutAndTheNextCommand) {
  expect_in(diagnosis_of(tests::capacity_study().rows(), "moe_act"),
            {"# Diagnosis of arm moe_act in study capacity", "- failed-further, moe_act: The failure moved", "Why: The label did lower",
             "Ruled out: fragmentation: 30.000 MB were reserved and free", "Next: Count it as evidence",
             "Type: rematch show moe_act --study 0000000000005eed"});
}

TEST(DiagnosisReport, LeavesOutTheSymptomsOfOtherArms) {
  EXPECT_EQ(diagnosis_of(tests::capacity_study().rows(), "moe").find("failed-further, moe_act"), std::string::npos);
}

TEST(DiagnosisReport, SaysWhatWasLookedForWhereNothingShows) {
  tests::StudyBuilder builder("well");
  builder.run_all("[]");
  expect_in(diagnosis_of(builder.rows()),
            {"No symptom shows in the numbers that were measured. Looked for: fragmentation, optimizer-bound, ",
             "Each of them could be judged."});
}

TEST(DiagnosisReport, SaysInOneNoteWhatCouldNotBeJudgedOfArmsForTheSameReason) {
  tests::StudyBuilder builder("half");
  builder.add_arm({"moe_act"});
  builder.add_arm({"mlp"});
  builder.run_all("[]");
  const std::string text = diagnosis_of(builder.rows());
  expect_in(
      text,
      {"- Not judged of mlp, moe_act, because no run of it has come to its end: fragmentation, optimizer-bound, label-without-effect"});
  EXPECT_EQ(text.find("could be judged"), std::string::npos);
}

}  // namespace
}  // namespace rematch::report

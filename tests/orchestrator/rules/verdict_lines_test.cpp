// What `show` begins with: the words and the numbers that led to them.
#include "orchestrator/rules/verdict_lines.h"

#include <gtest/gtest.h>

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using tests::kMegabyte;
using tests::StudyBuilder;

// "word: text" of the line about this; empty: there is none.
std::string line_of(const std::vector<VerdictLine>& lines, const std::string& about) {
  for (const VerdictLine& line : lines)
    if (line.about == about) return line.word + ": " + line.text;
  return "";
}

std::vector<VerdictLine> of_arm(const base::StudyRows& study, const std::string& arm) {
  const base::StudyVerdict verdict = judge_study(study);
  return arm_lines(study.plan, verdict, *base::find_arm(verdict, arm));
}

std::vector<VerdictLine> of_run(const base::StudyRows& study, std::size_t index) {
  return run_lines(study.attempts[index], judge_study(study).runs[index]);
}

void expect_in(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in: " << text;
}

TEST(ArmLines, GiveTheDifferenceOfTheHotRankWithItsPhaseRunsAndWord) {
  const auto lines = of_arm(tests::clean_study().rows(), "moe_act");
  expect_in(line_of(lines, "outcome"), {"pass: 2 of 2 runs pass", "95 % interval of the rate 34 to 100 %"});
  expect_in(line_of(lines, "memory"),
            {"lower: the hot rank, 0, peaks at 880.000 MB in backward, -120.000 MB (-12.00 %) against [] (the control)",
             "2 runs against 4, repeats agree to the byte", "activation peak -120.000 MB"});
}

TEST(ArmLines, GiveTheIntervalNoiseAndSmallestEffectOfATime) {
  const auto lines = of_arm(tests::clean_study().rows(), "moe_act");
  expect_in(line_of(lines, "time"),
            {"10.20 ms a step, +", "interval ", "against [] (the control)", "noise of a run ", "smallest effect 2.00 %"});
}

TEST(ArmLines, SayWhatOthersAreSetAgainst) {
  expect_in(line_of(of_arm(tests::clean_study().rows(), "[]"), "memory"),
            {"reference: the hot rank, 0, peaks at 1.000 GB", "set against it"});
  const auto lines = of_arm(tests::capacity_study().rows(), "moe+layernorm");
  expect_in(line_of(lines, "memory"), {"against moe (the reference, not a control)", "below the budget of 800.000 MB"});
}

TEST(ArmLines, SayThatASavingIsCensored) {
  StudyBuilder builder("bound");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act",
                  {.forward_peak_bytes = 600 * kMegabyte, .backward_peak_bytes = 700 * kMegabyte, .optimizer_peak_bytes = 900 * kMegabyte});
  expect_in(line_of(of_arm(builder.rows(), "moe_act"), "memory"), {"peaks at 900.000 MB in optimizer", "censored"});
}

TEST(ArmLines, GiveAFailedArmItsLastCommonStepAndNoTime) {
  const auto lines = of_arm(tests::capacity_study().rows(), "moe_act");
  expect_in(line_of(lines, "outcome"), {"fail: 0 of 2 runs pass"});
  expect_in(line_of(lines, "memory"), {"not a pass: after step 0"});
  expect_in(line_of(lines, "moved"), {"got further: The failure moved from warm of step 1"});
  EXPECT_EQ(line_of(lines, "time"), "");
}

TEST(ArmLines, SayThatACommandToRunAgainLacksTheOptionsGivenBesides) {
  StudyBuilder builder("empty");
  expect_in(line_of(of_arm(builder.rows(), "[]"), "next"), {"rematch run sweeps/empty.yaml: ", "with the options that were given besides"});
  builder.plan().sweep_path.clear();
  expect_in(line_of(of_arm(builder.rows(), "[]"), "next"), {"rematch run SWEEP: "});
}

struct NextCase {
  base::StudyRows study;
  std::string arm;
  std::string command;
};

TEST(ArmLines, EndWithTheNextCommand) {
  StudyBuilder refused("refused");
  refused.add_unplanned_arm({"moe"}, base::ArmStatus::kInvalid, "M1.graph: refused here");
  refused.plan().arms.back().rule_ids = {"M1.graph"};
  refused.add_unplanned_arm({"mlp"}, base::ArmStatus::kSkipped, "the strategy stopped");
  refused.run_all("[]");
  const std::vector<NextCase> all = {{tests::clean_study().rows(), "[]", "rematch report 0000000000005eed"},
                                     {tests::clean_study().rows(), "gdn_norm_out", "rematch explain gdn_norm_out"},
                                     {tests::capacity_study().rows(), "core_attn", "rematch diagnose core_attn --study 0000000000005eed"},
                                     {refused.rows(), "moe", "rematch explain M1"},
                                     {refused.rows(), "mlp", "rematch run sweeps/refused.yaml --set strategy.kind=one_label"},
                                     {StudyBuilder("empty").rows(), "[]", "rematch run sweeps/empty.yaml"}};
  for (const NextCase& one : all)
    EXPECT_TRUE(line_of(of_arm(one.study, one.arm), "next").starts_with(one.command + ": ")) << line_of(of_arm(one.study, one.arm), "next");
}

TEST(RunLines, GoThroughTheConditionsOfAPassWithTheirFigures) {
  const auto lines = of_run(tests::clean_study().rows(), 2);  // core_attn
  EXPECT_EQ(line_of(lines, "record_complete"), "held: the records of 2 ranks are whole");
  EXPECT_EQ(line_of(lines, "steady_steps"), "held: 18 steps were completed after 2 of warm-up, 10 are wanted");
  EXPECT_EQ(line_of(lines, "finite"), "held: losses and gradient norms of 20 steps are finite");
  expect_in(line_of(lines, "peak_plateau"), {"held: ", "grew by 0 B", "4.750 MB are allowed"});
  EXPECT_EQ(line_of(lines, "loss_match"), "held: losses are equal to the bit to [] block 0 slot 0, steps 0 to 19");
  EXPECT_EQ(line_of(lines, "active"), "held: core_attn: it wrapped 6 regions and replayed them 120 times");
  EXPECT_EQ(line_of(of_run(tests::clean_study().rows(), 0), "control"), "held: no rank wrapped or replayed anything");
}

TEST(RunLines, SayWhatWasNotHeldAndByHowMuch) {
  StudyBuilder builder("short");
  base::AttemptRows& run = builder.run("[]", {.num_steps = 8});
  run.ranks[1].steps.back().lifetime_peak_allocated_bytes += 50 * kMegabyte;
  const auto lines = of_run(builder.rows(), 0);
  EXPECT_EQ(line_of(lines, "steady_steps"), "not held: 6 steps were completed after 2 of warm-up, 10 are wanted");
  expect_in(line_of(lines, "peak_plateau"), {"not held: rank 1: the peak grew by 50.000 MB", "are allowed: run more steps"});
}

std::vector<std::string> abouts(const std::vector<VerdictLine>& lines) {
  std::vector<std::string> all;
  for (const VerdictLine& line : lines) all.push_back(line.about);
  return all;
}

TEST(RunLines, OfAnInactiveOrInvalidRunGiveNoNumbersOfItsPeaksAndLosses) {
  StudyBuilder builder("nothing");
  builder.add_arm({"moe_act"});
  for (base::RankRows& rank : builder.run("moe_act").ranks) rank.model->sites["moe_act"] = 0;
  EXPECT_EQ(abouts(of_run(builder.rows(), 0)), (std::vector<std::string>{"record_complete", "active"}));
  EXPECT_EQ(line_of(of_run(builder.rows(), 0), "active"), "not held: moe_act wrapped no region on any rank");
  StudyBuilder replayed("replayed");
  replayed.run("[]").ranks[0].steps[3].replays["moe"] = 1;
  EXPECT_EQ(abouts(of_run(replayed.rows(), 0)), (std::vector<std::string>{"record_complete", "control"}));
}

TEST(RunLines, PlaceAFailureWithItsRequestAndTheRanksThatFellWithIt) {
  const base::StudyRows study = tests::capacity_study().rows();
  EXPECT_EQ(
      line_of(of_run(study, 0), "failure"),
      "oom: in stage warm, step 1, phase forward, on rank 0 of node-a: 64.000 MB were asked for, with 960.000 MB allocated and 990.000 MB "
      "reserved of a limit of 1.000 GB; rank 1 was ended by the supervisor");
  EXPECT_EQ(line_of(of_run(study, 0), "peak_plateau"), "not judged: 3 completed steps would tell, 1 are there");
  expect_in(line_of(of_run(study, 0), "record_complete"), {"not held: rank 0: no last line (bye)"});
}

}  // namespace
}  // namespace rematch::rules

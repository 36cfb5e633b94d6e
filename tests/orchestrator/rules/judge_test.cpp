#include "orchestrator/rules/judge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/rules/conclusive.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using base::Conclusion;
using base::Outcome;
using protocol::FailureKind;
using protocol::Phase;
using protocol::Stage;
using tests::arm_of;
using tests::capacity_study;
using tests::clean_study;
using tests::kMegabyte;
using tests::StudyBuilder;

bool has_note(const base::StudyVerdict& verdict, const std::string& part) {
  return std::any_of(verdict.notes.begin(), verdict.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

// A study of the control and moe_act, all run, with one run of moe_act changed by the test.
template <typename Change>
base::StudyVerdict judge_with_changed_candidate(Change change) {
  StudyBuilder builder("changed");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act");
  change(builder.rows().attempts.back());
  return judge_study(builder.rows());
}

std::string only_rule(const base::StudyVerdict& verdict) {
  const base::RunVerdict& run = verdict.runs.back();
  return run.shortfalls.size() == 1 ? run.shortfalls.front().rule : std::to_string(run.shortfalls.size()) + " shortfalls";
}

TEST(Judge, PassesACompleteStudyAndAnswersWithTheControl) {
  const base::StudyVerdict verdict = judge_study(clean_study().rows());
  EXPECT_EQ(arm_of(verdict, "[]").outcome, Outcome::kPass);
  EXPECT_EQ(arm_of(verdict, "moe_act").outcome, Outcome::kPass);
  EXPECT_EQ(verdict.groups.front().reference_arm, "[]");
  EXPECT_EQ(verdict.conclusion, Conclusion::kUsable);
  EXPECT_EQ(verdict.num_missing, 0);
  EXPECT_EQ(verdict.answer.arm, "[]");
  EXPECT_EQ(verdict.answer.headroom_arm, "moe_act");
}

TEST(Judge, ReportsTheHotRankItsPeakAndTheBindingPhase) {
  const base::StudyVerdict verdict = judge_study(clean_study().rows());
  const base::ArmFigures& figures = *arm_of(verdict, "moe_act").figures;
  EXPECT_EQ(figures.hot.rank, 0);
  EXPECT_EQ(figures.hot.allocated_bytes, 880 * kMegabyte);
  EXPECT_EQ(figures.hot.reserved_bytes, 980 * kMegabyte);
  EXPECT_EQ(figures.hot.binding_phase, Phase::kBackward);
  EXPECT_EQ(figures.activation_peak_bytes, 880 * kMegabyte);
  EXPECT_EQ(figures.held_after_forward_bytes, 700 * kMegabyte);
  ASSERT_TRUE(figures.tflops_per_rank);
  EXPECT_NEAR(*figures.tflops_per_rank, 4e9 / 10.201e-3 / 2 * 1e-12, 1e-6);
}

TEST(Judge, GivesEffectsAsRatiosToTheControlWithTheDifferenceOfTheControlsBeside) {
  const base::StudyVerdict verdict = judge_study(clean_study().rows());
  const base::Effect& effect = *arm_of(verdict, "moe_act").effect;
  EXPECT_TRUE(effect.against_control);
  EXPECT_EQ(effect.peak_delta_bytes, -120 * kMegabyte);
  EXPECT_DOUBLE_EQ(*effect.peak_delta_fraction, 880.0 / 1000.0 - 1);
  // Control runs: 10.001, 10.101, 10.001, 9.951 ms; candidate 10.201 ms.
  EXPECT_NEAR(*effect.time_delta_fraction, 10.201 / 10.001 - 1, 1e-9);
  ASSERT_EQ(verdict.groups.front().control_pairs.size(), 2U);
  EXPECT_NEAR(verdict.groups.front().control_pairs[0].time_difference_fraction, 10.101 / 10.001 - 1, 1e-9);
  EXPECT_NEAR(verdict.groups.front().control_pairs[1].time_difference_fraction, 9.951 / 10.001 - 1, 1e-9);
}

TEST(Judge, DoesNotPassARunWithAnIncompleteRecord) {
  const auto verdict = judge_with_changed_candidate([](base::AttemptRows& run) { run.ranks[1].record_complete = false; });
  EXPECT_EQ(only_rule(verdict), "record_complete");
  EXPECT_EQ(arm_of(verdict, "moe_act").outcome, Outcome::kBorderline);
}

TEST(Judge, DoesNotPassARunInWhichARankNeverLeftOptimizerInit) {
  const auto verdict = judge_with_changed_candidate([](base::AttemptRows& run) {
    std::erase_if(run.ranks[1].stages,
                  [](const auto& s) { return s.stage == Stage::kOptimizerInit && s.event == protocol::StageEvent::kLeave; });
  });
  EXPECT_EQ(only_rule(verdict), "optimizer_init");
}

TEST(Judge, DoesNotPassARunWithTooFewSteadySteps) {
  const auto enough = judge_with_changed_candidate([](base::AttemptRows& run) {
    for (auto& rank : run.ranks) rank.steps.resize(12);
  });
  EXPECT_EQ(enough.runs.back().outcome, Outcome::kPass);
  const auto short_of_one = judge_with_changed_candidate([](base::AttemptRows& run) { run.ranks[1].steps.resize(11); });
  EXPECT_EQ(only_rule(short_of_one), "steady_steps");
}

TEST(Judge, CountsNoStepAsSteadyBeforeTheOptimizerIsInitialised) {
  const auto verdict = judge_with_changed_candidate([](base::AttemptRows& run) {
    for (auto& record : run.ranks[0].stages)
      if (record.stage == Stage::kOptimizerInit) record.step = 10;
  });
  EXPECT_EQ(only_rule(verdict), "steady_steps");
}

TEST(Judge, DoesNotPassAMissingOrInfiniteLossOrGradientNorm) {
  EXPECT_EQ(only_rule(judge_with_changed_candidate([](base::AttemptRows& run) { run.ranks[0].steps[5].loss.reset(); })), "finite");
  EXPECT_EQ(only_rule(judge_with_changed_candidate([](base::AttemptRows& run) { run.ranks[1].steps[5].grad_norm.reset(); })), "finite");
  EXPECT_EQ(only_rule(judge_with_changed_candidate([](base::AttemptRows& run) { run.ranks[1].steps[0].is_nan = true; })), "finite");
}

TEST(Judge, DoesNotPassASkippedStep) {
  const auto verdict = judge_with_changed_candidate([](base::AttemptRows& run) { run.ranks[0].steps[3].skipped = true; });
  EXPECT_EQ(only_rule(verdict), "no_skipped_step");
  EXPECT_EQ(verdict.conclusion, Conclusion::kCandidateFailed);
}

TEST(Judge, DoesNotPassAPeakThatStillGrows) {
  const auto verdict = judge_with_changed_candidate(
      [](base::AttemptRows& run) { run.ranks[0].steps.back().lifetime_peak_allocated_bytes += 100 * kMegabyte; });
  EXPECT_EQ(only_rule(verdict), "peak_plateau");
}

TEST(Judge, DoesNotPassALossThatDiffersInOneBitOnOneRank) {
  const auto verdict = judge_with_changed_candidate([](base::AttemptRows& run) { run.ranks[1].steps[7].loss_bits.back() ^= 1; });
  EXPECT_EQ(only_rule(verdict), "loss_match");
  EXPECT_NE(verdict.runs.back().shortfalls.front().message.find("rank 1, step 7"), std::string::npos);
  EXPECT_EQ(verdict.runs.back().loss_basis, "[] block 0 slot 0, steps 0 to 19");
  EXPECT_EQ(verdict.conclusion, Conclusion::kCandidateFailed);
}

TEST(Judge, CallsAnArmBorderlineWhenItsRepeatsDiffer) {
  StudyBuilder builder("edge");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run("moe_act");
  builder.run_out_of_memory("moe_act", Stage::kSteady, Phase::kBackward, 9);
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(arm_of(verdict, "moe_act").outcome, Outcome::kBorderline);
  EXPECT_TRUE(has_note(verdict, "moe_act: 1 of 2 repeats pass"));
  EXPECT_EQ(verdict.conclusion, Conclusion::kUsable);
}

TEST(Judge, RefutesAControlThatResolvedToAList) {
  StudyBuilder builder = clean_study();
  builder.rows().attempts[0].ranks[1].hello->resolved_recompute.recompute_modules = std::vector<std::string>{"core_attn"};
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(arm_of(verdict, "[]").outcome, Outcome::kInvalid);
  EXPECT_FALSE(arm_of(verdict, "[]").figures);
  EXPECT_EQ(verdict.conclusion, Conclusion::kControlInvalid);
  EXPECT_EQ(base::exit_code(verdict.conclusion), 6);
  EXPECT_NE(verdict.conclusion_reason.find("rank 1 resolved"), std::string::npos);
}

TEST(Judge, RefutesAControlWithAnUnsetList) {
  StudyBuilder builder = clean_study();
  builder.rows().attempts[0].ranks[0].hello->resolved_recompute.recompute_modules.reset();
  EXPECT_EQ(judge_study(builder.rows()).conclusion, Conclusion::kControlInvalid);
}

TEST(Judge, AcceptsAControlWithoutGranularity) {
  StudyBuilder builder = clean_study();
  for (base::AttemptRows& run : builder.rows().attempts)
    if (run.trial.is_control)
      for (base::RankRows& rank : run.ranks) rank.hello->resolved_recompute = {};
  EXPECT_EQ(judge_study(builder.rows()).conclusion, Conclusion::kUsable);
}

TEST(Judge, RefutesAControlThatReplayedSomething) {
  StudyBuilder builder = clean_study();
  builder.rows().attempts[1].ranks[0].steps[4].replays["core_attn"] = 2;
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(verdict.conclusion, Conclusion::kControlInvalid);
  EXPECT_NE(verdict.conclusion_reason.find("replayed core_attn 2 times in step 4"), std::string::npos);
}

TEST(Judge, CallsAnArmInactiveWhenItsLabelWrappedNothingOrWasNeverReplayed) {
  const auto unwrapped = judge_with_changed_candidate([](base::AttemptRows& run) {
    for (auto& rank : run.ranks) rank.model->sites.clear();
  });
  EXPECT_EQ(arm_of(unwrapped, "moe_act").outcome, Outcome::kInactive);
  EXPECT_FALSE(arm_of(unwrapped, "moe_act").figures);
  EXPECT_EQ(arm_of(unwrapped, "moe_act").reason, "moe_act wrapped no region on any rank");
  const auto bypassed = judge_with_changed_candidate([](base::AttemptRows& run) {
    for (auto& rank : run.ranks)
      for (auto& step : rank.steps) step.replays.clear();
  });
  EXPECT_EQ(arm_of(bypassed, "moe_act").outcome, Outcome::kInactive);
  EXPECT_NE(arm_of(bypassed, "moe_act").reason.find("none was replayed"), std::string::npos);
}

TEST(Judge, SaysAtLeastWhenThePeakSitsWhereNoLabelLowersIt) {
  StudyBuilder builder("censored");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act", {.forward_peak_bytes = 500 * kMegabyte, .backward_peak_bytes = 600 * kMegabyte});
  const base::StudyVerdict verdict = judge_study(builder.rows());
  const base::ArmVerdict& arm = arm_of(verdict, "moe_act");
  EXPECT_EQ(arm.figures->hot.binding_phase, Phase::kOptimizer);
  EXPECT_TRUE(arm.effect->censored);
  EXPECT_EQ(arm.effect->peak_delta_bytes, -300 * kMegabyte);
  EXPECT_EQ(arm.effect->activation_delta_bytes, -400 * kMegabyte);
  EXPECT_TRUE(has_note(verdict, "its saving is at least"));
}

TEST(Judge, SaysWhenTheHotRankMoved) {
  StudyBuilder builder("moved");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act", {.second_rank_extra_bytes = 10 * kMegabyte});
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(arm_of(verdict, "moe_act").figures->hot.rank, 1);
  EXPECT_EQ(arm_of(verdict, "moe_act").hot_rank_moved->from.rank, 0);
  EXPECT_TRUE(has_note(verdict, "moe_act: the hot rank moved from rank 0 to rank 1"));
}

TEST(Judge, SetsPassingArmsAgainstTheNarrowestOneWhenTheControlDoesNotFit) {
  const base::StudyVerdict verdict = judge_study(capacity_study().rows());
  EXPECT_EQ(arm_of(verdict, "[]").outcome, Outcome::kFail);
  EXPECT_EQ(verdict.groups.front().reference_arm, "moe");
  EXPECT_FALSE(arm_of(verdict, "moe").effect);
  const base::Effect& effect = *arm_of(verdict, "moe+layernorm").effect;
  EXPECT_FALSE(effect.against_control);
  EXPECT_EQ(effect.against, "moe");
  EXPECT_TRUE(has_note(verdict, "reference, not control"));
  EXPECT_EQ(verdict.conclusion, Conclusion::kUsable);
  EXPECT_EQ(verdict.answer.arm, "moe");
  EXPECT_EQ(verdict.answer.margin_bytes, 100 * kMegabyte);
}

TEST(Judge, ComparesAFailedArmAtTheLastCommonStepOnly) {
  const base::StudyVerdict verdict = judge_study(capacity_study().rows());
  const base::FailedComparison& comparison = *arm_of(verdict, "moe_act").failed_comparison;
  EXPECT_EQ(comparison.step, 0);
  EXPECT_EQ(comparison.peak_delta_bytes, -60 * kMegabyte);
  EXPECT_EQ(arm_of(verdict, "core_attn").failed_comparison->step, std::nullopt);
  EXPECT_FALSE(arm_of(verdict, "moe_act").figures);
}

TEST(Judge, CallsAFailureElsewhereMovedAndNeverAPass) {
  const base::StudyVerdict verdict = judge_study(capacity_study().rows());
  ASSERT_TRUE(arm_of(verdict, "moe_act").moved);
  EXPECT_TRUE(arm_of(verdict, "moe_act").moved->got_further);
  EXPECT_EQ(arm_of(verdict, "moe_act").outcome, Outcome::kFail);
  ASSERT_TRUE(arm_of(verdict, "core_attn").moved);
  EXPECT_FALSE(arm_of(verdict, "core_attn").moved->got_further);
  EXPECT_TRUE(has_note(verdict, "core_attn: The failure moved from warm of step 1, forward, on rank 0 to first_forward of step 0, "));
  EXPECT_NE(tests::diagnoses_text(verdict).find("failed-further moe_act: The failure moved from warm of step 1, forward, on rank 0 to "
                                                "steady of step 3, backward, on rank 0"),
            std::string::npos)
      << tests::diagnoses_text(verdict);
}

TEST(Judge, MatchesLossesWithTheControlsFirstStepsAndThenWithTheNarrowestPass) {
  StudyBuilder builder = capacity_study();
  EXPECT_EQ(judge_study(builder.rows()).runs.back().loss_basis, "[] block 0 slot 0, steps 0 to 0; moe block 0 slot 4, steps 0 to 19");
  builder.rows().attempts.back().ranks[0].steps[0].loss_bits = "00000000";
  EXPECT_EQ(judge_study(builder.rows()).runs.back().shortfalls.front().rule, "loss_match");
  StudyBuilder later = capacity_study();
  later.rows().attempts.back().ranks[0].steps[15].loss_bits = "00000000";
  EXPECT_NE(judge_study(later.rows()).runs.back().shortfalls.front().message.find("moe block 0 slot 4"), std::string::npos);
}

TEST(Judge, ConcludesThatNothingMeetsATooSmallBudget) {
  StudyBuilder builder = capacity_study();
  builder.plan().budget_per_rank_bytes = 600 * kMegabyte;
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(verdict.conclusion, Conclusion::kNoneMeetsBudget);
  EXPECT_EQ(base::exit_code(verdict.conclusion), 5);
  EXPECT_FALSE(verdict.answer.arm);
}

TEST(Judge, ExpectsOutOfMemoryOfACandidateAndNothingElse) {
  StudyBuilder builder = clean_study();
  builder.add_arm({"moe"});
  builder.run_out_of_memory("moe", Stage::kFirstForward, Phase::kForward, 0);
  EXPECT_EQ(judge_study(builder.rows()).conclusion, Conclusion::kUsable);
  builder.run_out_of_memory("moe", Stage::kFirstForward, Phase::kForward, 0).failure->kind = FailureKind::kCrashed;
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(verdict.conclusion, Conclusion::kCandidateFailed);
  EXPECT_EQ(base::exit_code(verdict.conclusion), 4);
}

TEST(Judge, ConcludesThatTheControlFailedOtherwiseThanByMemory) {
  StudyBuilder builder("crash");
  builder.run_out_of_memory("[]", Stage::kFirstForward, Phase::kForward, 0).failure->kind = FailureKind::kCrashed;
  EXPECT_EQ(judge_study(builder.rows()).conclusion, Conclusion::kControlInvalid);
}

TEST(Judge, DoesNotJudgeAnInterruptedOrLostAttemptAndCountsItsTrialAsMissing) {
  for (FailureKind kind : {FailureKind::kInterrupted, FailureKind::kLost, FailureKind::kPreempted, FailureKind::kNodeFail}) {
    StudyBuilder builder("stopped");
    builder.add_arm({"moe_act"});
    builder.run_all("[]");
    builder.run("moe_act");
    builder.run_out_of_memory("moe_act", Stage::kSteady, Phase::kForward, 5).failure->kind = kind;
    EXPECT_FALSE(is_conclusive(builder.rows().attempts.back()));
    const base::StudyVerdict verdict = judge_study(builder.rows());
    EXPECT_EQ(verdict.num_missing, 1);
    EXPECT_EQ(verdict.conclusion, Conclusion::kUsable);
    EXPECT_EQ(arm_of(verdict, "moe_act").outcome, Outcome::kPass);
    EXPECT_EQ(arm_of(verdict, "moe_act").num_judged, 1);
    EXPECT_TRUE(has_note(verdict, "1 of 6 trials are missing"));
  }
}

TEST(Judge, TakesTheSecondAttemptOfATrialWhoseFirstWasLost) {
  StudyBuilder builder("again");
  builder.add_arm({"moe_act"});
  builder.run_all("[]");
  builder.run_all("moe_act");
  base::AttemptRows lost = builder.rows().attempts.back();
  lost.failure = base::Failure{};
  lost.failure->kind = FailureKind::kLost;
  builder.rows().attempts.back().attempt = 2;
  builder.rows().attempts.insert(builder.rows().attempts.end() - 1, lost);
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(verdict.num_missing, 0);
  EXPECT_EQ(verdict.runs[verdict.runs.size() - 2].outcome, Outcome::kLost);
  EXPECT_EQ(arm_of(verdict, "moe_act").num_passed, 2);
}

TEST(Judge, GivesNoNumbersForArmsThatWereNotRun) {
  const base::StudyVerdict verdict = judge_study(clean_study().rows());
  EXPECT_EQ(arm_of(verdict, "gdn_norm_out").outcome, Outcome::kInactive);
  EXPECT_EQ(arm_of(verdict, "gdn_norm_out").reason, "no gated delta net layer");
  EXPECT_FALSE(arm_of(verdict, "gdn_norm_out").figures);
}

TEST(Judge, SaysNothingOfAStudyThatHasNotBegun) {
  StudyBuilder builder("empty");
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_EQ(arm_of(verdict, "[]").outcome, Outcome::kNotRun);
  EXPECT_EQ(verdict.num_missing, 4);
  EXPECT_EQ(verdict.conclusion, Conclusion::kUsable);
  EXPECT_FALSE(verdict.answer.arm);
}

TEST(Judge, SetsNoArmAgainstOneOfAnotherGroupOrAnotherProvenance) {
  StudyBuilder builder = clean_study();
  builder.plan().arms[2].group_id = tests::hex_id(0xcc);
  const base::StudyVerdict verdict = judge_study(builder.rows());
  EXPECT_FALSE(arm_of(verdict, "moe_act").effect);
  ASSERT_EQ(verdict.groups.size(), 2U);
  EXPECT_EQ(verdict.groups[0].reference_arm, "[]");
  EXPECT_EQ(verdict.groups[1].reference_arm, "moe_act");
  StudyBuilder mixed = clean_study();
  for (base::AttemptRows& run : mixed.rows().attempts)
    if (run.trial.arm == "moe_act")
      for (base::RankRows& rank : run.ranks) rank.hello->provenance = protocol::Provenance::kMeasured;
  EXPECT_FALSE(arm_of(judge_study(mixed.rows()), "moe_act").effect);
  EXPECT_TRUE(arm_of(judge_study(mixed.rows()), "core_attn").effect);
}

}  // namespace
}  // namespace rematch::rules

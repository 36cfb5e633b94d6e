// pairs: after the labels alone, the unions of those that both lowered the activation peak, and what they do beyond the sum.
#include <gtest/gtest.h>

#include "orchestrator/base/study_plan.h"
#include "tests/orchestrator/arm_of.h"
#include "tests/orchestrator/strategy/replayed_study.h"

namespace rematch::tests {
namespace {

constexpr std::int64_t kControlPeak = 36'000'000'000;

base::StudyPlan pairs_plan() {
  return published_plan("moonlight_16b_8xh100", {{"strategy.kind", "pairs"},
                                                 {"measure.blocks", "2"},
                                                 {"recompute.labels", "core_attn,mla_up_proj,moe_act,layernorm"},
                                                 {"recompute.sets", "mla_up_proj+mlp"}});
}

// core_attn raises the peak; the others lower it.
Endings endings() {
  return {{"[]", {.peak_bytes = kControlPeak, .step_time_ms = 100}},
          {"core_attn", {.peak_bytes = kControlPeak + kMegabyte, .step_time_ms = 104}},
          {"mla_up_proj", {.peak_bytes = kControlPeak - 900 * kMegabyte, .step_time_ms = 105}},
          {"moe_act", {.peak_bytes = kControlPeak - 700 * kMegabyte, .step_time_ms = 102}},
          {"layernorm", {.oom_after = 1, .peak_bytes = kControlPeak}},
          {"mla_up_proj+mlp", {.peak_bytes = kControlPeak - 950 * kMegabyte, .step_time_ms = 107}},
          {"mla_up_proj+moe_act", {.peak_bytes = kControlPeak - 1500 * kMegabyte, .step_time_ms = 107.1}}};
}

TEST(Pairs, WaitForTheirLabels) {
  const base::StudyPlan plan = pairs_plan();
  int num_waiting = 0;
  for (const base::ArmRow& arm : plan.arms) num_waiting += arm.status == base::ArmStatus::kWaiting ? 1 : 0;
  EXPECT_EQ(num_waiting, 6) << "two of four labels";
  EXPECT_EQ(plan.trials.size(), 2U * (2 + 5));
}

TEST(Pairs, RunOnlyWhereBothLabelsLowerTheActivationPeakInBlocksOfTheirOwn) {
  const Replayed study = replay(pairs_plan(), endings());
  const base::StudyPlan& plan = study.rows.plan;
  const std::string text = decisions_text(plan);
  EXPECT_EQ(arms_that_ran(plan).size(), 7U) << text;
  EXPECT_EQ(num_trials_of(plan, "mla_up_proj+moe_act"), 2) << text;
  EXPECT_EQ(num_trials_of(plan, "[]"), 8);
  for (const protocol::Trial& trial : plan.trials)
    EXPECT_EQ(trial.block >= 2, trial.arm == "mla_up_proj+moe_act" || (trial.is_control && trial.block >= 2));
  for (const char* said : {"take mla_up_proj+moe_act: both labels lower the activation peak alone: mla_up_proj by -900.000 MB, "
                           "moe_act by -700.000 MB",
                           "leave_out core_attn+moe_act: core_attn alone changes the activation peak by +1.000 MB",
                           "leave_out moe_act+layernorm: layernorm ran out of memory at warm of step 1", "stop : every pair"})
    EXPECT_NE(text.find(said), std::string::npos) << said << "\nin\n" << text;
  EXPECT_EQ(base::to_json(replay(pairs_plan(), endings()).rows.plan), base::to_json(plan));
}

TEST(Pairs, AreReportedAsWhatTheyDoBeyondTheSum) {
  const Replayed study = replay(pairs_plan(), endings());
  ASSERT_EQ(study.verdict.interactions.size(), 1U) << "mlp did not run alone";
  const base::Interaction& pair = study.verdict.interactions.front();
  EXPECT_EQ(pair.arm, "mla_up_proj+moe_act");
  EXPECT_DOUBLE_EQ(pair.activation_bytes.value, 100.0 * kMegabyte) << "less than the sum of 900 and 700 MB";
  EXPECT_DOUBLE_EQ(pair.activation_bytes.low.value(), 100.0 * kMegabyte) << "repeats agree to the byte";
  ASSERT_TRUE(pair.log_time);
  EXPECT_NEAR(pair.log_time->value, std::log(107.1 / (105.0 * 1.02)), 1e-4);
}

TEST(Pairs, EndWithoutARoundWhereNoTwoLabelsHelp) {
  Endings none = endings();
  none["moe_act"].peak_bytes = kControlPeak;
  const Replayed study = replay(pairs_plan(), none);
  EXPECT_EQ(study.rows.plan.trials.size(), pairs_plan().trials.size());
  EXPECT_EQ(study.rows.plan.decisions.back().reason, "no two labels both lower the activation peak");
}

}  // namespace
}  // namespace rematch::tests

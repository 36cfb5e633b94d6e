#include "orchestrator/rules/gate.h"

#include <gtest/gtest.h>

namespace rematch::rules {
namespace {

constexpr std::int64_t kGigabyte = 1'000'000'000;

Gate gate(const std::string& text, GateUse use = GateUse::kComparison) { return parse_gate(text, use).value(); }
std::string refusal(const std::string& text, GateUse use = GateUse::kComparison) { return parse_gate(text, use).error().message; }

SideComparison pair_of(std::int64_t own_peak, std::int64_t against_peak) {
  SideComparison pair{.name = "moe", .against_name = "moe", .outcome = base::Outcome::kPass, .against_outcome = base::Outcome::kPass};
  pair.own.peak_allocated_bytes = own_peak;
  pair.against.peak_allocated_bytes = against_peak;
  return pair;
}

SideComparison timed(double fraction, double low, double high) {
  SideComparison pair = pair_of(kGigabyte, kGigabyte);
  pair.time = TimeDifference{fraction, low, high, base::TimeWord::kSlower};
  return pair;
}

std::vector<GateFinding> judged(const std::string& text, const SideComparison& pair) {
  return judge_gates({gate(text)}, std::vector{pair});
}

TEST(Gate, ReadsMetricSenseAndBoundWithItsUnit) {
  EXPECT_EQ(gate("regression>2%").bound, 0.02);
  EXPECT_EQ(gate(" step_time > 2.5 % ").bound, 0.025);
  EXPECT_EQ(gate("peak_allocated>100MB").bound, 100e6);
  EXPECT_EQ(gate("peak_allocated>-1GiB").bound, -1024.0 * 1024 * 1024);
  EXPECT_EQ(gate("margin<2GB", GateUse::kStudy).sense, GateSense::kBelow);
  EXPECT_EQ(gate("step_time>900ms", GateUse::kStudy).bound, 900e6);
  EXPECT_EQ(gate("drift", GateUse::kStudy).sense, GateSense::kNone);
  EXPECT_EQ(gate("outcome").metric, GateMetric::kOutcome);
}

TEST(Gate, RefusesWhatItCannotReadAndNamesTheMetrics) {
  for (const char* text : {"", "speed>2%", "step_time", "step_time>2", "step_time>2MB", "step_time=2%", "peak_allocated>2ms", "outcome>2%",
                           "regression<2%", "peak_allocated>1e3GB", "margin<2GB", "step_time>2%; true"}) {
    ASSERT_FALSE(parse_gate(text, GateUse::kComparison)) << text;
    EXPECT_NE(refusal(text).find(std::string("--fail-on ") + text + ": "), std::string::npos);
    EXPECT_NE(refusal(text).find("regression>2%, step_time>2%, peak_allocated>100MB"), std::string::npos) << refusal(text);
  }
  EXPECT_NE(refusal("peak_allocated>2%", GateUse::kStudy).find("wants > or < and a bound in bytes"), std::string::npos);
  EXPECT_NE(refusal("regression>2%", GateUse::kStudy).find("one study is set against nothing here"), std::string::npos);
  EXPECT_NE(refusal("margin<2GB").find("a gate on one study"), std::string::npos);
}

TEST(Gate, OnTimeFiresWhenTheWholeIntervalIsBeyondTheBound) {
  const auto fired = judged("step_time>2%", timed(0.05, 0.03, 0.07));
  ASSERT_EQ(fired.size(), 1U);
  EXPECT_EQ(fired.front().state, GateState::kFired);
  EXPECT_EQ(fired.front().message, "gate step_time>2%: moe: step time +5.00 % [+3.00 %, +7.00 %]");
  const auto undecided = judged("step_time>2%", timed(0.03, 0.01, 0.05));
  ASSERT_EQ(undecided.size(), 1U);
  EXPECT_EQ(undecided.front().state, GateState::kUndecided);
  EXPECT_NE(undecided.front().message.find("holds the bound: undecided"), std::string::npos);
  EXPECT_TRUE(judged("step_time>2%", timed(0.01, 0.0, 0.02)).empty());
  EXPECT_EQ(judged("step_time<-1%", timed(-0.03, -0.04, -0.02)).front().state, GateState::kFired);
}

TEST(Gate, OnTimeWithoutAnIntervalGoesByTheDifferenceAndSaysSo) {
  SideComparison pair = pair_of(kGigabyte, kGigabyte);
  pair.time = TimeDifference{0.05, std::nullopt, std::nullopt, std::nullopt};
  EXPECT_NE(judged("step_time>2%", pair).front().message.find("no interval: too few runs"), std::string::npos);
  EXPECT_TRUE(judged("step_time>6%", pair).empty());
  EXPECT_EQ(judged("undecided", pair).front().state, GateState::kFired);
}

TEST(Gate, OnPeaksGoesByTheExactDifference) {
  EXPECT_TRUE(judged("peak_allocated>100MB", pair_of(kGigabyte + 100'000'000, kGigabyte)).empty());
  const auto fired = judged("peak_allocated>100MB", pair_of(kGigabyte + 100'000'001, kGigabyte));
  ASSERT_EQ(fired.size(), 1U);
  EXPECT_EQ(fired.front().message, "gate peak_allocated>100MB: moe: allocated peak +100000001 bytes (+100.000 MB)");
  EXPECT_EQ(judged("regression>2%", pair_of(1030, 1000)).size(), 1U) << "no step times, and a worse peak";
  EXPECT_TRUE(judged("regression>2%", pair_of(900, 1000)).empty());
}

TEST(Gate, FiresWhenThereIsNothingToJudgeItBy) {
  SideComparison refused = pair_of(2 * kGigabyte, kGigabyte);
  refused.refusal = "differ";
  for (const char* text : {"peak_allocated>1%", "peak_reserved>1%", "step_time>1%", "undecided"}) {
    const auto found = judged(text, refused);
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_NE(found.front().message.find("nothing to judge it by"), std::string::npos);
  }
}

TEST(Gate, OnOutcomesFiresForAnArmThatPassed) {
  SideComparison pair = pair_of(1, 1);
  EXPECT_TRUE(judged("outcome", pair).empty());
  pair.outcome = base::Outcome::kFail;
  pair.reason = "out of memory";
  EXPECT_EQ(judged("outcome", pair).front().message, "gate outcome: moe: passed and is now fail: out of memory");
  pair.against_outcome = base::Outcome::kFail;
  EXPECT_TRUE(judged("outcome", pair).empty());
}

TEST(Gate, OnOutcomesFiresForABorderlineArmThatFails) {
  SideComparison pair = pair_of(1, 1);
  pair.outcome = pair.against_outcome = base::Outcome::kBorderline;
  EXPECT_TRUE(judged("outcome", pair).empty());
  pair.outcome = base::Outcome::kFail;
  ASSERT_EQ(judged("outcome", pair).size(), 1U);
  EXPECT_EQ(judged("outcome", pair).front().message, "gate outcome: moe: was borderline and is now fail");
  pair.outcome = base::Outcome::kPass;
  EXPECT_TRUE(judged("outcome", pair).empty());
}

TEST(Gate, FiresForAnArmThatLostTheFigureBesideOthersThatHaveIt) {
  SideComparison lost = pair_of(kGigabyte, kGigabyte);
  lost.own = {};
  lost.against.step_time_ns = 1e6;
  lost.against.peak_reserved_bytes = lost.against.activation_peak_bytes = kGigabyte;
  lost.outcome = base::Outcome::kNotRun;
  lost.reason = "nightly has no such arm";
  SideComparison kept = timed(0, -0.01, 0.01);
  kept.own.peak_reserved_bytes = kept.against.peak_reserved_bytes = kGigabyte;
  kept.own.activation_peak_bytes = kept.against.activation_peak_bytes = kGigabyte;
  for (const char* text : {"peak_allocated>1%", "peak_reserved>1%", "activation_peak>1%", "step_time>2%", "undecided", "outcome"}) {
    const auto found = judge_gates({gate(text)}, std::vector{kept, lost});
    ASSERT_EQ(found.size(), 1U) << text;
    EXPECT_NE(found.front().message.find("now"), std::string::npos);
    EXPECT_TRUE(found.front().message.ends_with("not run: nightly has no such arm")) << found.front().message;
    EXPECT_TRUE(judge_gates({gate(text)}, std::vector{kept}).empty()) << text;
  }
  EXPECT_EQ(judge_gates({gate("regression>2%")}, std::vector{kept, lost}).size(), 2U) << "of its time and of its peak";
}

GateFigures figures() {
  GateFigures figures;
  figures.arm = "moe_act";
  figures.peak_allocated_bytes = 41 * kGigabyte;
  figures.step_time_ns = 950e6;
  figures.margin_bytes = kGigabyte;
  figures.drift_per_slot = 0.01;
  figures.drift_p_value = 0.001;
  figures.drift_flagged = true;
  figures.aa_difference_fraction = -0.04;
  figures.num_timed_arms = 2;
  figures.undecided_arms = {"moe"};
  return figures;
}

TEST(Gate, OnAStudyLooksAtItsAnswerAndItsStepTimes) {
  const auto message = [](const std::string& text) {
    const auto found = judge_gates({gate(text, GateUse::kStudy)}, figures());
    return found.empty() ? std::string() : found.front().message;
  };
  EXPECT_EQ(message("peak_allocated>40GB"), "gate peak_allocated>40GB: moe_act, the answer: allocated peak 41000000000 bytes (41.000 GB)");
  EXPECT_EQ(message("peak_allocated>41GB"), "");
  EXPECT_NE(message("step_time>900ms").find("950.00 ms"), std::string::npos);
  EXPECT_NE(message("margin<2GB").find("margin to the budget 1000000000 bytes"), std::string::npos);
  EXPECT_EQ(message("margin<1GB"), "");
  EXPECT_NE(message("drift").find("drift by +1.01 %"), std::string::npos);
  EXPECT_NE(message("aa_difference>3%").find("differ by -4.00 %"), std::string::npos);
  EXPECT_EQ(message("aa_difference>5%"), "");
  EXPECT_NE(message("undecided").find("step times of moe are undecided"), std::string::npos);
  EXPECT_NE(message("peak_reserved>1GB").find("moe_act has no reserved peak"), std::string::npos);
}

TEST(Gate, OnAStudyWithoutAnAnswerFires) {
  for (const char* text : {"peak_allocated>40GB", "margin<2GB", "drift", "aa_difference>3%", "undecided"})
    EXPECT_EQ(judge_gates({gate(text, GateUse::kStudy)}, GateFigures{}).size(), 1U) << text;
}

TEST(Gate, OnUndecidedTimesSaysSoWhenNoArmHasAWord) {
  GateFigures predicted;
  predicted.undecided_arms = {"moe"};
  const auto found = judge_gates({gate("undecided", GateUse::kStudy)}, predicted);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().message, "gate undecided: nothing to judge it by: no arm's step time has an interval");
  GateFigures decided;
  decided.num_timed_arms = 1;
  EXPECT_TRUE(judge_gates({gate("undecided", GateUse::kStudy)}, decided).empty());
}

TEST(Gate, FiguresAreKeptAsText) {
  const GateFigures kept = parse_gate_figures(gate_figures_text(figures())).value();
  EXPECT_EQ(gate_figures_text(kept), gate_figures_text(figures()));
  EXPECT_EQ(gate_figures_text(parse_gate_figures(gate_figures_text({})).value()), gate_figures_text({}));
  EXPECT_FALSE(parse_gate_figures(""));
  EXPECT_FALSE(parse_gate_figures("{}"));
}

}  // namespace
}  // namespace rematch::rules

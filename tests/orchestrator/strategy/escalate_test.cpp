// escalate over the guide's tables, replayed, and over outcomes and budgets that they do not have.
#include <gtest/gtest.h>

#include <ostream>

#include "orchestrator/base/study_plan.h"
#include "tests/orchestrator/strategy/replayed_study.h"

namespace rematch::tests {
namespace {

using base::ArmStatus;
using base::DecisionAction;

const std::string kNemotron = "nemotron_3_nano_16xh100";
const std::string kMoonlight = "moonlight_16b_8xh100";

std::vector<spec::Override> escalate_within(const std::string& budget) {
  return {{"strategy.kind", "escalate"}, {"budget.per_rank_memory", budget}, {"measure.blocks", "2"}};
}

base::ArmStatus status_of(const base::StudyPlan& plan, const std::string& arm) {
  for (const base::ArmRow& row : plan.arms)
    if (row.arm == arm) return row.status;
  throw std::logic_error("no arm " + arm);
}

TEST(EscalateOnTheTableOfNemotron, EndsAtMoeWithoutFullRecompute) {
  const Replayed study = replay(published_plan(kNemotron, escalate_within("80GB")), published_endings(kNemotron));
  EXPECT_EQ(arms_that_ran(study.rows.plan).size(), 5U) << decisions_text(study.rows.plan);
  EXPECT_EQ(arms_that_ran(study.rows.plan).back(), "moe");
  EXPECT_EQ(study.verdict.answer.arm, "moe");
  EXPECT_EQ(study.verdict.answer.margin_bytes, 80'000'000'000 - 64'653'000'000);
  EXPECT_EQ(study.verdict.answer.headroom_arm, "moe+layernorm");
  EXPECT_FALSE(study.verdict.answer.headroom_is_measured);
  EXPECT_EQ(base::exit_code(study.verdict.conclusion), 0) << study.verdict.conclusion_reason;
  EXPECT_EQ(num_trials_of(study.rows.plan, "[]"), 4) << "a control that ran out of memory is not run again";
}

TEST(EscalateOnTheTableOfNemotron, ExplainsEveryStepTakenAndNotTaken) {
  const base::StudyPlan plan = replay(published_plan(kNemotron, escalate_within("80GB")), published_endings(kNemotron)).rows.plan;
  for (const base::ArmRow& arm : plan.arms) {
    if (!arm.variation.empty()) continue;
    const auto is_its = [&](const base::Decision& decision) { return decision.arm == arm.arm; };
    EXPECT_TRUE(std::any_of(plan.decisions.begin(), plan.decisions.end(), is_its)) << arm.arm << "\n" << decisions_text(plan);
    if (arm.status != ArmStatus::kSkipped) continue;
    EXPECT_NE(arm.reason.find("moe peaks at 64.653 GB"), std::string::npos) << arm.reason;
  }
  const std::string text = decisions_text(plan);
  for (const char* said :
       {"0 leave_out [] (expandable_segments): no request failed for fragmentation: [] wanted 64.000 MB with 30.000 MB reserved "
        "and free",
        "0 take : narrow labels: nothing so far passes within 80.000 GB a rank: [] ran out of memory at warm of step 1",
        "0 leave_out []: it ran out of memory", "of the 960.000 MB that [] held on rank 0 (forward)",
        "2 take moe: it can take at most 200.000 MB", "3 stop : met: moe peaks at 64.653 GB on rank 0"})
    EXPECT_NE(text.find(said), std::string::npos) << said << "\nin\n" << text;
  EXPECT_EQ(status_of(plan, "full:block:13"), ArmStatus::kSkipped);
  EXPECT_EQ(status_of(plan, "full:uniform:1"), ArmStatus::kSkipped);
}

struct Permutation {
  std::string name;
  std::vector<std::pair<std::string, Ending>> changed;
  std::string budget;
  std::optional<std::string> answer;
  std::string last_arm;  // that ran
};

void PrintTo(const Permutation& permutation, std::ostream* out) { *out << permutation.name; }

constexpr std::int64_t kFits = 60'000'000'000;
const Ending kRunsOut = {.oom_after = 1, .peak_bytes = 66'000'000'000};

const std::vector<Permutation> kPermutations = {
    {"narrow_label_fits", {{"moe_act", {.peak_bytes = kFits}}}, "80GB", "moe_act", "moe_act"},
    {"quicker_of_two_narrow_labels",
     {{"moe_act", {.peak_bytes = kFits, .step_time_ms = 90}}, {"core_attn", {.peak_bytes = kFits, .step_time_ms = 100}}},
     "80GB",
     "moe_act",
     "core_attn"},
    {"narrower_of_two_that_are_as_quick",
     {{"moe_act", {.peak_bytes = kFits, .step_time_ms = 90}}, {"core_attn", {.peak_bytes = kFits, .step_time_ms = 90}}},
     "80GB",
     "core_attn",
     "core_attn"},
    {"union_of_narrow_labels_fits", {{"layernorm+moe_act", {.peak_bytes = kFits}}}, "80GB", "layernorm+moe_act", "layernorm+moe_act"},
    {"whole_module_does_not_fit", {{"moe", kRunsOut}}, "80GB", "moe+layernorm", "moe+layernorm"},
    {"whole_module_passes_above_the_budget", {}, "64GB", "moe+layernorm", "moe+layernorm"},
    {"only_full_recompute_fits",
     {{"moe", kRunsOut}, {"moe+layernorm", kRunsOut}, {"full:block:26", {.peak_bytes = kFits}}},
     "80GB",
     "full:block:26",
     "full:block:39"},
    {"only_uniform_fits",
     {{"moe", kRunsOut}, {"moe+layernorm", kRunsOut}, {"full:uniform:7", {.peak_bytes = kFits}}},
     "80GB",
     "full:uniform:7",
     "full:uniform:7"},
    {"nothing_fits", {{"moe", kRunsOut}, {"moe+layernorm", kRunsOut}}, "80GB", std::nullopt, "full:uniform:7"},
    {"control_fits", {{"[]", {.peak_bytes = kFits}}}, "80GB", "[]", "[]"},
    {"control_passes_above_the_budget", {{"[]", {.peak_bytes = 70'000'000'000}}}, "65GB", "moe", "moe"},
    {"narrow_label_at_the_edge", {{"moe_act", {.peak_bytes = kFits, .passes_of = 1}}}, "80GB", "moe", "moe"},
};

class EscalateOnAPermutedTable : public testing::TestWithParam<Permutation> {};

TEST_P(EscalateOnAPermutedTable, EndsWhereTheOutcomesSay) {
  Endings endings = published_endings(kNemotron);
  for (const auto& [arm, ending] : GetParam().changed) endings[arm] = ending;
  const Replayed study = replay(published_plan(kNemotron, escalate_within(GetParam().budget)), endings);
  const base::StudyPlan& plan = study.rows.plan;
  EXPECT_EQ(study.verdict.answer.arm, GetParam().answer) << study.verdict.answer.reason << "\n" << decisions_text(plan);
  EXPECT_EQ(num_trials_of(plan, GetParam().last_arm) > 0, true);
  EXPECT_FALSE(base::awaits_decision(plan));
  EXPECT_EQ(base::exit_code(study.verdict.conclusion), GetParam().answer ? 0 : 5) << study.verdict.conclusion_reason;
  std::set<std::string> ids;
  for (const protocol::Trial& trial : plan.trials) EXPECT_TRUE(ids.insert(trial.trial_id).second) << trial.arm;
  for (const base::ArmRow& arm : plan.arms) {
    EXPECT_NE(arm.status, ArmStatus::kWaiting) << arm.arm;
    EXPECT_EQ(arm.status == ArmStatus::kPlanned, num_trials_of(plan, arm.arm) > 0) << arm.arm;
  }
}

std::string name_of(const testing::TestParamInfo<Permutation>& permutation) { return permutation.param.name; }
INSTANTIATE_TEST_SUITE_P(Nemotron, EscalateOnAPermutedTable, testing::ValuesIn(kPermutations), name_of);

TEST(EscalateOnTheTableOfMoonlight, GivesMoeActWithMlaUpProjNextWithin36GB) {
  const Replayed study = replay(published_plan(kMoonlight, escalate_within("36.0GB")), published_endings(kMoonlight));
  EXPECT_EQ(study.verdict.answer.arm, "moe_act") << decisions_text(study.rows.plan);
  EXPECT_EQ(study.verdict.answer.headroom_arm, "mla_up_proj");
  EXPECT_TRUE(study.verdict.answer.headroom_is_measured);
  EXPECT_EQ(study.verdict.answer.margin_bytes, 59'000'000);
  EXPECT_EQ(arms_that_ran(study.rows.plan).size(), 4U) << "the control and three narrow labels";
  EXPECT_EQ(num_trials_of(study.rows.plan, "[]"), 8) << "a control that passes is there in every block";
}

TEST(EscalateOnTheTableOfMoonlight, GivesTheControlWithin80GBAndRunsNothingElse) {
  const Replayed study = replay(published_plan(kMoonlight, escalate_within("80GB")), published_endings(kMoonlight));
  EXPECT_EQ(study.verdict.answer.arm, "[]");
  EXPECT_EQ(arms_that_ran(study.rows.plan), std::vector<std::string>{"[]"});
  EXPECT_EQ(study.verdict.answer.headroom_arm, "moe_act") << "what holds most of the control's peak";
  EXPECT_FALSE(study.verdict.answer.headroom_is_measured);
}

TEST(OneLabelOnTheTableOfMoonlight, GivesTheSameAnswers) {
  const auto within = [](const std::string& budget) {
    return replay(published_plan(kMoonlight, {{"budget.per_rank_memory", budget}, {"measure.blocks", "2"}}), published_endings(kMoonlight));
  };
  const Replayed tight = within("36.0GB");
  EXPECT_EQ(tight.verdict.answer.arm, "moe_act");
  EXPECT_EQ(tight.verdict.answer.headroom_arm, "mla_up_proj");
  EXPECT_EQ(tight.num_trials.size(), 1U) << "all of it is planned at once";
  EXPECT_TRUE(tight.rows.plan.decisions.empty());
  const Replayed wide = within("80GB");
  EXPECT_EQ(wide.verdict.answer.arm, "[]");
  EXPECT_EQ(wide.verdict.answer.headroom_arm, "moe_act");
  EXPECT_TRUE(wide.verdict.answer.headroom_is_measured);
  std::string pareto;
  for (const base::ArmVerdict& arm : wide.verdict.arms)
    if (arm.is_pareto) pareto += arm.arm + " ";
  EXPECT_EQ(pareto, "[] mla_up_proj moe_act ");
}

// Whatever was decided before, the same results lead to the same plan: from the fresh plan, and from any plan on the way.
TEST(Escalate, ComesToTheSamePlanFromWhereverItStarts) {
  const base::StudyPlan fresh = published_plan(kNemotron, escalate_within("80GB"));
  const Endings endings = published_endings(kNemotron);
  const Replayed whole = replay(fresh, endings);
  ASSERT_EQ(whole.num_trials.size(), 5U);
  EXPECT_EQ(base::to_json(replay(fresh, endings).rows.plan), base::to_json(whole.rows.plan));
  EXPECT_EQ(base::to_json(replay(whole.rows.plan, endings).rows.plan), base::to_json(whole.rows.plan));
  EXPECT_EQ(std::set<std::string>({whole.rows.plan.study_id}), std::set<std::string>({fresh.study_id}));
}

TEST(Escalate, GivesATrialTheSameIdWithinAnotherBudget) {
  const auto ids_of = [](const std::string& budget) {
    Endings endings = published_endings(kNemotron);
    endings["moe_act"] = {.peak_bytes = 62'000'000'000};
    std::set<std::string> ids;
    for (const protocol::Trial& trial : replay(published_plan(kNemotron, escalate_within(budget)), endings).rows.plan.trials)
      ids.insert(trial.trial_id);
    return ids;
  };
  const auto of_few = ids_of("80GB");
  const auto of_more = ids_of("40GB");
  EXPECT_LT(of_few.size(), of_more.size());
  EXPECT_TRUE(std::includes(of_more.begin(), of_more.end(), of_few.begin(), of_few.end()));
}

const Ending kFragmented = {.oom_after = 1, .peak_bytes = 66'000'000'000, .is_fragmented = true};

TEST(TheFragmentationGate, RunsTheControlWithExpandableSegmentsBeforeAnyRecompute) {
  Endings endings = published_endings(kNemotron);
  endings["[]"] = kFragmented;
  endings["[] (expandable_segments)"] = {.peak_bytes = 65'000'000'000};
  const Replayed study = replay(published_plan(kNemotron, escalate_within("80GB")), endings);
  EXPECT_EQ(arms_that_ran(study.rows.plan), (std::vector<std::string>{"[]", "[] (expandable_segments)"}));
  EXPECT_EQ(study.verdict.answer.arm, "[] (expandable_segments)") << decisions_text(study.rows.plan);
  const protocol::Trial& trial = study.rows.plan.trials.back();
  EXPECT_TRUE(trial.backend.expandable_segments);
  EXPECT_NE(trial.group_id, study.rows.plan.trials.front().group_id);
  EXPECT_NE(decisions_text(study.rows.plan)
                .find("960.000 MB of them allocated when 64.000 MB could not be had, with a largest "
                      "free block of 32.000 MB"),
            std::string::npos)
      << decisions_text(study.rows.plan);
}

TEST(TheFragmentationGate, GoesOnWithLaterArmsInThatGroup) {
  Endings endings = published_endings(kNemotron);
  endings["[]"] = kFragmented;
  endings["moe (expandable_segments)"] = {.peak_bytes = 65'000'000'000};
  const Replayed study = replay(published_plan(kNemotron, escalate_within("80GB")), endings);
  EXPECT_EQ(study.verdict.answer.arm, "moe (expandable_segments)");
  for (const protocol::Trial& trial : study.rows.plan.trials) EXPECT_EQ(trial.backend.expandable_segments, trial.arm != "[]") << trial.arm;
  EXPECT_EQ(status_of(study.rows.plan, "moe"), ArmStatus::kSkipped);
}

TEST(TheFragmentationGate, IsNotThereWhereSegmentsAreExpandableAlready) {
  auto overrides = escalate_within("80GB");
  overrides.push_back({"backend.expandable_segments", "true"});
  for (const base::ArmRow& arm : published_plan(kNemotron, overrides).arms) EXPECT_EQ(arm.variation, "") << arm.arm;
}

TEST(Escalate, StopsAtOnceWhereTheOptimizerDoesNotFit) {
  Endings endings;
  endings["[]"] = {.oom_after = 0, .peak_bytes = 70'000'000'000};
  base::StudyPlan plan = published_plan(kNemotron, escalate_within("80GB"));
  StudyBuilder builder(plan.name);
  builder.rows() = {plan, {}};
  for (int run = 0; run < 4; ++run)
    builder.run_out_of_memory("[]", protocol::Stage::kOptimizerInit, protocol::Phase::kOptimizerInit, 0, {.num_steps = 12});
  const auto next = strategy::extend(builder.rows(), rules::judge_study(builder.rows()));
  ASSERT_TRUE(next);
  EXPECT_EQ(next->trials.size(), 4U);
  EXPECT_EQ(next->decisions.back().action, DecisionAction::kStop);
  EXPECT_NE(next->decisions.back().reason.find("no label can help"), std::string::npos) << next->decisions.back().reason;
}

TEST(Escalate, DecidesNothingWhereTheControlIsNone) {
  StudyBuilder builder(kNemotron);
  builder.rows() = {published_plan(kNemotron, escalate_within("80GB")), {}};
  for (int run = 0; run < 4; ++run)
    for (base::RankRows& rank : builder.run("[]", {.num_steps = 12}).ranks) rank.steps.front().replays["moe"] = 1;
  const base::StudyVerdict verdict = rules::judge_study(builder.rows());
  EXPECT_EQ(verdict.conclusion, base::Conclusion::kControlInvalid);
  EXPECT_FALSE(strategy::extend(builder.rows(), verdict)) << "better runs may replace these";
}

}  // namespace
}  // namespace rematch::tests

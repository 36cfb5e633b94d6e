// Arms of other groups: cpu_offloading against a control of its own, and the arms that a strategy may come to.
#include <gtest/gtest.h>

#include "orchestrator/plan/plan.h"
#include "orchestrator/plan/tiers.h"
#include "tests/orchestrator/published_trainer.h"

namespace rematch::plan {
namespace {

base::StudyPlan plan_with(const std::string& text, const std::vector<spec::Override>& overrides, const protocol::Describe& trainer) {
  const auto parsed = spec::parse_sweep(text, "s.yaml", trainer, overrides);
  EXPECT_EQ(all_problems(parsed), "");
  return make_plan(parsed.spec, trainer);
}

const std::string kOffloading = spec::sample_with("measure:", "features: {cpu_offloading: true}\nmeasure:");

TEST(CpuOffloading, IsPlannedAndRefusedWithTheReasonWhereTheTrainerHasNone) {
  const auto plan = plan_with(kOffloading, {}, spec::example_trainer());
  ASSERT_EQ(plan.arms.size(), 6U);
  for (const std::size_t i : {4U, 5U}) {
    EXPECT_EQ(plan.arms[i].status, base::ArmStatus::kInvalid);
    EXPECT_EQ(plan.arms[i].variation, "cpu_offloading");
    EXPECT_NE(plan.arms[i].reason.find("does not list cpu_offloading=true"), std::string::npos) << plan.arms[i].reason;
  }
  for (const protocol::Trial& trial : plan.trials) EXPECT_FALSE(trial.features.cpu_offloading);
  EXPECT_EQ(plan.arms[0].group_id, plan_with(spec::kSampleSweep, {}, spec::example_trainer()).arms[0].group_id)
      << "the arms beside it are those of the sweep without it";
}

TEST(CpuOffloading, RunsAgainstAControlWithoutGranularityInAGroupOfItsOwn) {
  protocol::Describe trainer = spec::example_trainer();
  trainer.optimizer_modes.emplace_back("cpu_offloading=true");
  const auto plan = plan_with(kOffloading, {}, trainer);
  int num_controls = 0;
  int num_offloading = 0;
  for (const protocol::Trial& trial : plan.trials) {
    const bool is_in_main_group = trial.group_id == plan.arms[0].group_id;
    EXPECT_EQ(trial.recompute.recompute_granularity.has_value(), is_in_main_group) << trial.arm;
    EXPECT_EQ(trial.features.cpu_offloading, trial.arm == "cpu_offloading");
    num_controls += trial.arm == "null (cpu_offloading)" ? 1 : 0;
    num_offloading += trial.arm == "cpu_offloading" ? 1 : 0;
  }
  EXPECT_EQ(num_controls, 4);
  EXPECT_EQ(num_offloading, 2);
}

TEST(AnEscalation, StartsWithTheControlAndListsWhatItMayComeToFromNarrowToWide) {
  const std::string text = spec::sample_with("  labels: [moe_act, mlp]\n  sets: [[layernorm, moe_act]]\n", "");
  const auto plan = plan_with(text, {{"strategy.kind", "escalate"}, {"budget.per_rank_memory", "1GB"}}, spec::example_trainer());
  std::vector<std::string> main_group;
  Tier last = Tier::kControl;
  for (const base::ArmRow& arm : plan.arms) {
    if (!arm.variation.empty()) continue;
    main_group.push_back(arm.arm);
    EXPECT_GE(tier_of(arm), last) << arm.arm;
    last = tier_of(arm);
    EXPECT_EQ(arm.status, arm.is_control ? base::ArmStatus::kPlanned : base::ArmStatus::kWaiting);
  }
  EXPECT_EQ(main_group, (std::vector<std::string>{"[]",
                                                  "mla_up_proj",
                                                  "core_attn",
                                                  "moe_act",
                                                  "layernorm",
                                                  "shared_experts",
                                                  "mla_up_proj+core_attn",
                                                  "layernorm+moe_act",
                                                  "mla_up_proj+layernorm+moe_act",
                                                  "core_attn+mla_up_proj+layernorm+moe_act+shared_experts",
                                                  "mlp",
                                                  "moe",
                                                  "mla_up_proj+mlp",
                                                  "moe+layernorm",
                                                  "core_attn+mla_up_proj+layernorm+mlp+moe",
                                                  "full:block:1",
                                                  "full:block:2",
                                                  "full:block:3",
                                                  "full:uniform:1",
                                                  "full:uniform:2"}));
  EXPECT_EQ(plan.trials.size(), 4U);
}

TEST(AnEscalation, TakesTheSetsAndTheFullSettingsOfTheSweepInsteadOfItsOwn) {
  const auto plan =
      plan_with(spec::kSampleSweep, {{"strategy.kind", "escalate"}, {"budget.per_rank_memory", "1GB"}, {"recompute.full", "uniform:2"}},
                spec::example_trainer());
  std::vector<std::string> main_group;
  for (const base::ArmRow& arm : plan.arms)
    if (arm.variation.empty()) main_group.push_back(arm.arm);
  EXPECT_EQ(main_group, (std::vector<std::string>{"[]", "moe_act", "layernorm+moe_act", "mlp", "full:uniform:2"}));
}

}  // namespace
}  // namespace rematch::plan

#include "orchestrator/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "orchestrator/base/hash.h"
#include "orchestrator/base/study_plan.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::plan {
namespace {

using base::ArmStatus;
using spec::kSampleSweep;
using spec::sample_with;

spec::SweepSpec spec_of(const std::string& text, const std::vector<spec::Override>& overrides = {}) {
  const spec::ParsedSweep parsed = spec::parse_sample(text, overrides);
  EXPECT_EQ(all_problems(parsed), "");
  return parsed.spec;
}

base::StudyPlan plan_of(const std::string& text, const std::vector<spec::Override>& overrides = {}) {
  return make_plan(spec_of(text, overrides), spec::example_trainer());
}

const std::vector<spec::Override> kAllMoe = {{"model.moe_layer_freq", "1,1,1,1"}};

TEST(MakePlan, PutsTheControlFirstAndCountsTheSitesOfEachArm) {
  const auto plan = plan_of(kSampleSweep);
  ASSERT_EQ(plan.arms.size(), 4u);
  EXPECT_EQ(plan.arms[0].arm, "[]");
  EXPECT_TRUE(plan.arms[0].is_control);
  EXPECT_EQ(plan.arms[1].arm, "moe_act");
  EXPECT_EQ(plan.arms[2].expected_sites, (protocol::LabelCounts{{"mlp", 1}}));
  EXPECT_EQ(plan.arms[3].arm, "layernorm+moe_act");
  EXPECT_EQ(plan.arms[3].expected_sites, (protocol::LabelCounts{{"layernorm", 7}, {"moe_act", 3}}));
  for (const auto& arm : plan.arms) EXPECT_EQ(arm.status, ArmStatus::kPlanned) << arm.arm;
}

TEST(MakePlan, RunsInEachBlockTheControlTwiceAndEachPlannedArmOnce) {
  const auto plan = plan_of(kSampleSweep);
  ASSERT_EQ(plan.trials.size(), 2u * 5u);
  for (std::int64_t block = 0; block < 2; ++block) {
    std::multiset<std::string> arms;
    for (std::int64_t slot = 0; slot < 5; ++slot) {
      const auto& trial = plan.trials[static_cast<std::size_t>(block * 5 + slot)];
      EXPECT_EQ(trial.block, block);
      EXPECT_EQ(trial.slot, slot);
      EXPECT_EQ(trial.is_control, trial.arm == "[]");
      arms.insert(trial.arm);
    }
    EXPECT_EQ(arms, (std::multiset<std::string>{"[]", "[]", "moe_act", "mlp", "layernorm+moe_act"}));
  }
}

TEST(MakePlan, GivesTrialsThatDifferInRecomputeAlone) {
  const auto plan = plan_of(kSampleSweep);
  for (const auto& trial : plan.trials) {
    EXPECT_EQ(protocol::group_document(trial), protocol::group_document(plan.trials.front()));
    EXPECT_EQ(base::content_hash(protocol::group_document(trial).dump()), trial.group_id);
  }
}

TEST(MakePlan, GivesEachTrialAnIdAndADocumentThatTheTrainerAccepts) {
  const auto plan = plan_of(kSampleSweep);
  std::set<std::string> ids;
  for (const auto& trial : plan.trials) {
    ids.insert(trial.trial_id);
    EXPECT_EQ(protocol::to_json(protocol::parse_trial(protocol::to_json(trial))), protocol::to_json(trial));
  }
  EXPECT_EQ(ids.size(), plan.trials.size());
}

TEST(MakePlan, IsTheSameEachTime) { EXPECT_EQ(base::to_json(plan_of(kSampleSweep)), base::to_json(plan_of(kSampleSweep))); }

TEST(MakePlan, GivesStudyDocumentsThatReadBack) {
  const auto document = base::to_json(plan_of(kSampleSweep));
  EXPECT_EQ(base::to_json(base::parse_study_plan(document)), document);
}

TEST(GroupId, ChangesWithWhatIsMeasuredAndNotWithTheArms) {
  const std::string group = plan_of(kSampleSweep).arms[0].group_id;
  EXPECT_EQ(plan_of(sample_with("[moe_act, mlp]", "[moe]")).arms[0].group_id, group);
  EXPECT_EQ(plan_of(kSampleSweep, {{"name", "other"}}).arms[0].group_id, group);
  EXPECT_EQ(plan_of(kSampleSweep, {{"launch.timeout", "5min"}}).arms[0].group_id, group);
  EXPECT_NE(plan_of(kSampleSweep, {{"training.seed", "7"}}).arms[0].group_id, group);
  EXPECT_NE(plan_of(kSampleSweep, {{"backend.memory_limit", "1GiB"}}).arms[0].group_id, group);
}

TEST(TrialId, ChangesWithTheTrainerBuild) {
  const auto spec = spec_of(kSampleSweep);
  auto trainer = spec::example_trainer();
  const auto before = make_plan(spec, trainer);
  trainer.build_id = "another";
  const auto after = make_plan(spec, trainer);
  EXPECT_NE(after.trials[0].trial_id, before.trials[0].trial_id);
  EXPECT_EQ(after.study_id, before.study_id);
}

TEST(OrderSeed, IsTheTrainingSeedUnlessTheSweepNamesOne) {
  EXPECT_EQ(plan_of(kSampleSweep).order_seed, 1234u);
  EXPECT_EQ(plan_of(kSampleSweep, {{"measure.order_seed", "5"}}).order_seed, 5u);
}

TEST(AnArmWithoutASite, IsInactiveWithTheReasonOfTheModelAndIsNotRun) {
  const auto plan = plan_of(kSampleSweep, kAllMoe);
  const auto& mlp = plan.arms[2];
  EXPECT_EQ(mlp.status, ArmStatus::kInactive);
  EXPECT_EQ(mlp.reason, "mlp: the model has no dense layer");
  for (const auto& trial : plan.trials) EXPECT_NE(trial.arm, "mlp");
  EXPECT_EQ(plan.trials.size(), 2u * 4u);
}

TEST(AnArmThatARuleRefuses, IsInvalidWithTheRuleAndIsNotRun) {
  const auto plan = plan_of(sample_with("[moe_act, mlp]", "[gdn_norm_out, mlp]"));
  EXPECT_EQ(plan.arms[1].status, ArmStatus::kInvalid);
  EXPECT_EQ(plan.arms[1].rule_ids, std::vector<std::string>{"L4"});
  EXPECT_NE(plan.arms[1].reason.find("gated delta net"), std::string::npos);
  for (const auto& trial : plan.trials) EXPECT_NE(trial.arm, "gdn_norm_out");
}

TEST(AControlWithoutGranularity, KeepsANameOfItsOwn) {
  const auto plan = plan_of(sample_with("{recompute_granularity: selective, recompute_modules: []}", "{recompute_granularity: null}"));
  EXPECT_EQ(plan.arms[0].arm, "null");
  EXPECT_EQ(plan.arms[0].recompute.recompute_granularity, std::nullopt);
}

PlanFindings findings_of(const std::string& text, const std::vector<spec::Override>& overrides = {}) {
  const auto spec = spec_of(text, overrides);
  return check_plan(make_plan(spec, spec::example_trainer()), spec, spec::example_trainer());
}

TEST(CheckPlan, FindsNothingInASoundPlan) {
  const auto findings = findings_of(kSampleSweep);
  EXPECT_TRUE(findings.problems.empty());
  EXPECT_TRUE(findings.warnings.empty());
}

TEST(CheckPlan, RefusesAControlThatARuleRefusesAtItsPlace) {
  const auto findings = findings_of(sample_with("recompute_modules: []", "recompute_modules: [], recompute_num_layers: 1"));
  ASSERT_EQ(findings.problems.size(), 1u);
  EXPECT_EQ(findings.problems[0].line, 17);
  EXPECT_NE(findings.problems[0].message.find("G5"), std::string::npos);
}

TEST(CheckPlan, RefusesAPlanWithNoCandidateLeftAndSaysWhyEachIsOut) {
  const auto findings = findings_of(sample_with("[moe_act, mlp]\n  sets: [[layernorm, moe_act]]", "[mlp, gdn_norm_out]"), kAllMoe);
  ASSERT_EQ(findings.problems.size(), 1u);
  EXPECT_EQ(findings.problems[0].line, 18);
  EXPECT_NE(findings.problems[0].message.find("mlp is inactive (mlp: the model has no dense layer)"), std::string::npos);
  EXPECT_NE(findings.problems[0].message.find("gdn_norm_out is invalid (L4"), std::string::npos);
}

TEST(CheckPlan, WarnsOfCoreAttnAndOfALabelWithoutASite) {
  const auto findings = findings_of(sample_with("[moe_act, mlp]", "[core_attn, mlp]"), kAllMoe);
  EXPECT_TRUE(findings.problems.empty());
  ASSERT_EQ(findings.warnings.size(), 2u);
  EXPECT_NE(findings.warnings[0].message.find("L5"), std::string::npos);
  EXPECT_NE(findings.warnings[1].message.find("L8"), std::string::npos);
  EXPECT_EQ(findings.warnings[1].column, 23);
}

}  // namespace
}  // namespace rematch::plan

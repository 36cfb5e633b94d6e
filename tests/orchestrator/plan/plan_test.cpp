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
  EXPECT_EQ(mlp.reason, "L8: mlp: the model has no dense layer");
  EXPECT_EQ(mlp.rule_ids, std::vector<std::string>{"L8"});
  for (const auto& trial : plan.trials) EXPECT_NE(trial.arm, "mlp");
  EXPECT_EQ(plan.trials.size(), 2u * 4u);
}

TEST(AnArmThatARuleRefuses, IsInvalidWithTheRuleAndIsNotRun) {
  const auto plan = plan_of(sample_with("[moe_act, mlp]", "[gdn_norm_out, mlp]"));
  EXPECT_EQ(plan.arms[1].status, ArmStatus::kInvalid);
  EXPECT_EQ(plan.arms[1].rule_ids, (std::vector<std::string>{"L4", "R1"}));  // the example trainer has no gated delta net at all
  EXPECT_NE(plan.arms[1].reason.find("gated delta net"), std::string::npos);
  for (const auto& trial : plan.trials) EXPECT_NE(trial.arm, "gdn_norm_out");
}

const std::vector<spec::Override> kOnlyFull = {{"recompute.labels", "[]"}, {"recompute.sets", "[]"}};

base::StudyPlan plan_of_full(const std::string& settings, std::vector<spec::Override> overrides = {}) {
  overrides.insert(overrides.end(), kOnlyFull.begin(), kOnlyFull.end());
  overrides.push_back({"recompute.full", settings});
  return plan_of(kSampleSweep, overrides);
}

TEST(MakePlan, CountsTheGroupsOfFullRecomputeInEachPipelineRanksChunk) {
  protocol::Describe trainer = spec::example_trainer();
  trainer.parallel_axes.emplace_back("pipeline_model_parallel_size");
  const auto parsed =
      spec::parse_sweep(sample_with("  expert_model_parallel_size: 2\n", "  pipeline_model_parallel_size: 2\n"), "s.yaml", trainer,
                        {{"recompute.labels", "[]"}, {"recompute.sets", "[]"}, {"recompute.full", "uniform:2,block:1,uniform:3"}});
  ASSERT_EQ(all_problems(parsed), "");
  const auto plan = make_plan(parsed.spec, trainer);
  EXPECT_EQ(plan.arms[1].expected_sites.at("full"), 2);
  EXPECT_EQ(plan.arms[2].expected_sites.at("full"), 2) << "one layer of each chunk";
  EXPECT_EQ(plan.arms[3].status, ArmStatus::kInvalid) << "a chunk has two layers";
  EXPECT_NE(plan.arms[3].reason.find("wanted 1 to 2 layers of a model chunk, found 3"), std::string::npos) << plan.arms[3].reason;
}

TEST(AnArmOfFullRecompute, ExpectsItsGroupsOfLayers) {
  const auto plan = plan_of_full("uniform:1,uniform:3,block:2,block:4");
  ASSERT_EQ(plan.arms.size(), 5u);
  const std::vector<std::pair<std::string, std::int64_t>> wanted = {
      {"full:uniform:1", 4}, {"full:uniform:3", 2}, {"full:block:2", 2}, {"full:block:4", 4}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(plan.arms[i + 1].arm, wanted[i].first);
    EXPECT_EQ(plan.arms[i + 1].status, ArmStatus::kPlanned) << plan.arms[i + 1].reason;
    EXPECT_EQ(plan.arms[i + 1].expected_sites, (protocol::LabelCounts{{"full", wanted[i].second}}));
  }
  EXPECT_EQ(plan.trials.size(), 2u * 6u);
  EXPECT_EQ(base::to_json(base::parse_study_plan(base::to_json(plan))), base::to_json(plan));
}

TEST(AnArmOfFullRecompute, IsInvalidByTheRuleThatRefusesIt) {
  const auto plan = plan_of_full("[{recompute_num_layers: 1}, {recompute_method: block}, block:5, uniform:1:distributed, block:1]");
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"full:unset:1", "G3"}, {"full:block:unset", "G4"}, {"full:block:5", "R2"}, {"full:uniform:1:distributed", "G8"}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(plan.arms[i + 1].arm, wanted[i].first);
    EXPECT_EQ(plan.arms[i + 1].status, ArmStatus::kInvalid);
    EXPECT_EQ(plan.arms[i + 1].rule_ids, std::vector<std::string>{wanted[i].second});
  }
  EXPECT_EQ(plan.arms.back().status, ArmStatus::kPlanned);
}

TEST(ALabelOfAnotherRevision, ThatNoFamilyHasAUnitForIsRefusedAsOurs) {
  const auto plan = plan_of(kSampleSweep, {{"recompute.core_revision", "dev"}, {"recompute.labels", "moe,mhc"}});
  EXPECT_EQ(plan.arms[1].status, ArmStatus::kPlanned);
  EXPECT_EQ(plan.arms[2].rule_ids, std::vector<std::string>{"R1"});
  EXPECT_NE(plan.arms[2].reason.find("ours: "), std::string::npos) << plan.arms[2].reason;
  EXPECT_NE(plan.arms[2].reason.find("labels that have one: core_attn"), std::string::npos) << plan.arms[2].reason;
}

TEST(ApplicableLabels, LeaveOutWhatARuleRefuses) {
  const std::string text = sample_with("  labels: [moe_act, mlp]\n  sets: [[layernorm, moe_act]]\n", "  labels: applicable\n");
  const auto arms_of = [](const base::StudyPlan& plan) {
    std::vector<std::string> arms;
    for (const auto& arm : plan.arms) arms.push_back(arm.arm);
    return arms;
  };
  EXPECT_EQ(arms_of(plan_of(text, {{"model.moe_grouped_gemm", "false"}})),
            (std::vector<std::string>{"[]", "core_attn", "mla_up_proj", "layernorm", "mlp", "moe", "shared_experts"}));
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
  EXPECT_NE(findings.problems[0].message.find("mlp is inactive (L8: mlp: the model has no dense layer)"), std::string::npos);
  EXPECT_NE(findings.problems[0].message.find("gdn_norm_out is invalid (L4"), std::string::npos);
}

TEST(CheckPlan, WarnsOfCoreAttnAndOfALabelWithoutASite) {
  const auto findings = findings_of(sample_with("[moe_act, mlp]", "[core_attn, mlp]"), kAllMoe);
  EXPECT_TRUE(findings.problems.empty());
  ASSERT_EQ(findings.warnings.size(), 2u);
  EXPECT_NE(findings.warnings[0].message.find("L5"), std::string::npos);
  EXPECT_NE(findings.warnings[0].message.find("backend.attention is fused"), std::string::npos);
  EXPECT_NE(findings.warnings[1].message.find("L8"), std::string::npos);
  EXPECT_NE(findings.warnings[1].message.find("(mlp: the model has no dense layer); the arm is inactive"), std::string::npos);
  EXPECT_EQ(findings.warnings[1].column, 23);
}

TEST(CheckPlan, SaysThatLabelsHaveNoEffectUnderFull) {
  const auto findings = findings_of(
      sample_with("  labels:", "  full: [{recompute_method: block, recompute_num_layers: 1, recompute_modules: [moe]}]\n  labels:"));
  EXPECT_TRUE(findings.problems.empty());
  ASSERT_EQ(findings.warnings.size(), 1u);
  EXPECT_EQ(findings.warnings[0].line, 18);
  EXPECT_NE(findings.warnings[0].message.find("arm full:block:1: G9: labels have no effect"), std::string::npos)
      << findings.warnings[0].message;
  EXPECT_NE(findings.warnings[0].message.find("(recompute_modules: moe)"), std::string::npos);
}

// A warning stands at its own arm's place, whatever `applicable` left out before it.
TEST(CheckPlan, PlacesWarningsByTheirArm) {
  const std::string text = sample_with("[moe_act, mlp]", "applicable", sample_with("[[layernorm, moe_act]]", "[[core_attn, moe]]"));
  const auto findings = findings_of(text, {{"model.moe_grouped_gemm", "false"}});
  ASSERT_EQ(findings.warnings.size(), 2u);
  EXPECT_EQ(findings.warnings[0].line, 18);
  EXPECT_EQ(findings.warnings[1].line, 19);
}

}  // namespace
}  // namespace rematch::plan

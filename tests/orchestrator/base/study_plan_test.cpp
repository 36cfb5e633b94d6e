#include "orchestrator/base/study_plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schemas/protocol/document_error.h"

namespace rematch::base {
namespace {

protocol::Trial sample_trial() {
  protocol::Trial trial;
  trial.trial_id = "00000000000000aa";
  trial.group_id = "00000000000000bb";
  trial.study = "s";
  trial.arm = "moe_act";
  trial.trainer_build_id = "build";
  trial.timeout_ms = 1000;
  trial.collective_timeout_ms = trial.timeout_ms / 2;
  trial.model.family = "mla_moe";
  trial.model.fields = {{"num_layers", std::int64_t{4}}, {"rotary_base", 50000.0}, {"q_lora_rank", {}}};
  trial.training = {.seq_length = 8, .micro_batch_size = 1, .global_batch_size = 1, .train_iters = 12, .seed = 7};
  trial.backend = {"cpu", "fused", 1LL << 30};
  trial.recompute = {"selective", {{"moe_act"}}, {}, {}, false, "24bad8e6"};
  trial.measure = {.steady_steps = 10, .warmup_steps = 2};
  return trial;
}

StudyPlan sample_plan() {
  StudyPlan plan;
  plan.study_id = "0123456789abcdef";
  plan.name = "s";
  plan.sweep_path = "sweeps/s.yaml";
  plan.sweep_text = "schema: rematch/sweep/1\n";
  plan.trainer_build_id = "build";
  plan.order_seed = 7;
  plan.num_blocks = 2;
  plan.arms = {{"[]",
                "00000000000000bb",
                "",
                true,
                {"selective", std::vector<std::string>{}, {}, {}, false, "24bad8e6"},
                ArmStatus::kPlanned,
                "",
                {},
                {}},
               {"moe_act",
                "00000000000000bb",
                "cpu_offloading",
                false,
                {"selective", {{"moe_act"}}, {}, {}, false, "24bad8e6"},
                ArmStatus::kInvalid,
                "why",
                {"L2"},
                {{"moe_act", 3}}}};
  plan.strategy = "escalate";
  plan.blocks_auto = true;
  plan.trials = {sample_trial()};
  plan.decisions = {{1, DecisionAction::kFreeze, "moe_act", "slower by 3 %"}};
  return plan;
}

std::string problem_of(const nlohmann::json& document) {
  try {
    parse_study_plan(document);
  } catch (const protocol::DocumentError& error) {
    return error.what();
  }
  return "no problem";
}

TEST(StudyPlanDocument, ReadsBackWhatWasWritten) {
  const auto document = to_json(sample_plan());
  const StudyPlan read = parse_study_plan(nlohmann::json::parse(document.dump()));
  EXPECT_EQ(to_json(read), document);
  EXPECT_EQ(read.arms[1].status, ArmStatus::kInvalid);
  EXPECT_EQ(read.arms[1].expected_sites.at("moe_act"), 3);
  EXPECT_EQ(read.arms[0].recompute.recompute_modules, std::vector<std::string>{});
  EXPECT_EQ(read.budget_per_rank_bytes, std::nullopt);
  EXPECT_EQ(read.arms[1].variation, "cpu_offloading");
  EXPECT_EQ(read.strategy, "escalate");
  EXPECT_TRUE(read.blocks_auto);
  EXPECT_EQ(read.decisions[0].action, DecisionAction::kFreeze);
  EXPECT_EQ(read.trials[0].backend.memory_limit_bytes, 1LL << 30);
}

TEST(StudyPlanDocument, WithAnUnknownKeyIsRefused) {
  auto document = to_json(sample_plan());
  document["blocks"] = 2;
  EXPECT_NE(problem_of(document).find("blocks"), std::string::npos) << problem_of(document);
}

TEST(StudyPlanDocument, WithoutAKeyIsRefused) {
  auto document = to_json(sample_plan());
  document["arms"][1].erase("reason");
  EXPECT_NE(problem_of(document).find("arms[1].reason"), std::string::npos) << problem_of(document);
}

TEST(StudyPlanDocument, WithAnUnknownStatusIsRefusedWithTheKnownOnes) {
  auto document = to_json(sample_plan());
  document["arms"][0]["status"] = "ready";
  EXPECT_NE(problem_of(document).find("planned, inactive, invalid, skipped"), std::string::npos) << problem_of(document);
}

TEST(StudyPlanDocument, OfAnotherSchemaIsRefused) {
  auto document = to_json(sample_plan());
  document["schema"] = "rematch/study/9";
  EXPECT_NE(problem_of(document).find(kStudySchema), std::string::npos) << problem_of(document);
}

}  // namespace
}  // namespace rematch::base

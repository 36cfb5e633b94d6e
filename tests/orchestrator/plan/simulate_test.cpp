#include "orchestrator/plan/simulate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "orchestrator/base/device_table.h"
#include "orchestrator/plan/plan.h"
#include "tests/orchestrator/spec/sample.h"

namespace rematch::plan {
namespace {

protocol::Describe trainer() {
  protocol::Describe described = spec::example_trainer();
  described.devices.emplace_back("meta");
  return described;
}

spec::SweepSpec simulated_of(const std::string& text, const std::vector<spec::Override>& overrides = {}) {
  const spec::ParsedSweep parsed = spec::parse_sweep(text, "s.yaml", trainer(), overrides, spec::SweepUse::kSimulate);
  EXPECT_EQ(all_problems(parsed), "");
  return simulated(parsed.spec);
}

const std::string kNoLimit = spec::sample_with(", memory_limit: 2GiB", "");
const std::string kForCuda = spec::sample_with("device: cpu", "device: cuda", kNoLimit);

std::string origin_of(const spec::SweepSpec& spec, const std::string& key) {
  for (const auto& row : spec.origins)
    if (row.key == key) return row.value + " by " + row.origin;
  return "none";
}

TEST(Simulated, TakesTheDevicesFiguresFromItsRowAndSaysSo) {
  const auto spec = simulated_of(kForCuda + "simulate: {device: H200}\n");
  const base::DeviceRow& row = *base::find_device("H200");
  const protocol::PredictionSpec& prediction = spec.common.prediction.value();
  EXPECT_EQ(spec.common.backend.device, "meta");
  EXPECT_EQ(prediction.device, "H200");
  EXPECT_EQ(prediction.device_memory_bytes, row.memory_bytes.value);
  EXPECT_EQ(prediction.outside_allocator_bytes, row.outside_allocator_bytes.value);
  EXPECT_EQ(prediction.workspace_bytes, row.workspace_bytes.value);
  EXPECT_EQ(prediction.graph_pool_bytes, 0);
  EXPECT_EQ(spec.common.backend.memory_limit_bytes, row.memory_bytes.value - row.outside_allocator_bytes.value);
  EXPECT_EQ(prediction.origins.at("device"), "s.yaml:22:20");
  EXPECT_EQ(prediction.origins.at("workspace"), std::string("device table, H200: ") + row.workspace_bytes.origin);
  EXPECT_EQ(prediction.origins.at("graph_pool"), "default");
  EXPECT_EQ(prediction.origins.at("expert_load"), "default");
  EXPECT_EQ(prediction.origins.at("capacity"), "device_memory less outside_allocator");
}

TEST(Simulated, LetsTheSweepOutrankTheTable) {
  const auto spec = simulated_of(kForCuda +
                                 "simulate: {device_memory: 10GB, outside_allocator: 1GB, workspace: 0B, graph_pool: 3MiB, "
                                 "expert_load: imbalance, expert_imbalance: 1.5}\n");
  const protocol::PredictionSpec& prediction = spec.common.prediction.value();
  EXPECT_EQ(spec.common.backend.memory_limit_bytes, 9'000'000'000);
  EXPECT_EQ(prediction.workspace_bytes, 0);
  EXPECT_EQ(prediction.graph_pool_bytes, 3 << 20);
  EXPECT_EQ(prediction.expert_load.imbalance, 1.5);
  for (const char* name : {"device_memory", "outside_allocator", "workspace", "graph_pool", "expert_load"})
    EXPECT_EQ(prediction.origins.at(name).rfind("s.yaml:22:", 0), 0u) << name << ": " << prediction.origins.at(name);
}

TEST(Simulated, KeepsACapacityThatTheSweepWrites) {
  const auto spec = simulated_of(spec::kSampleSweep);
  EXPECT_EQ(spec.common.backend.memory_limit_bytes, std::int64_t{2} << 30);
  EXPECT_EQ(spec.common.prediction->origins.at("capacity").rfind("s.yaml:", 0), 0u);
}

TEST(Simulated, RunsFewStepsInOneBlockAndTheControlOnce) {
  const auto spec = simulated_of(kNoLimit + "simulate: {train_iters: 4}\n");
  EXPECT_EQ(spec.common.training.train_iters, 4);
  EXPECT_EQ(origin_of(spec, "training.train_iters"), "4 by simulate.train_iters");
  EXPECT_EQ(origin_of(spec, "measure.blocks"), "1 by --simulate");
  const auto plan = make_plan(spec, trainer());
  std::vector<std::string> arms;
  for (const auto& trial : plan.trials) arms.push_back(trial.arm);
  EXPECT_EQ(arms, (std::vector<std::string>{"[]", "moe_act", "mlp", "layernorm+moe_act"}));
}

TEST(Simulated, IsAStudyOfItsOwn) {
  const auto parsed = spec::parse_sample(kNoLimit);
  const auto real = make_plan(parsed.spec, trainer());
  const auto predicted = make_plan(simulated_of(kNoLimit), trainer());
  EXPECT_EQ(real.name, predicted.name);
  EXPECT_NE(real.study_id, predicted.study_id);
  EXPECT_NE(real.arms.front().group_id, predicted.arms.front().group_id);
}

TEST(Simulated, IsTheSameStudyWhereverItsAssumptionsAreWritten) {
  const std::string section = "simulate: {device: B200}\n";
  const auto below = make_plan(simulated_of(kNoLimit + section), trainer());
  const auto above = make_plan(simulated_of(section + kNoLimit), trainer());
  const auto other = make_plan(simulated_of(kNoLimit + "simulate: {device: H200}\n"), trainer());
  EXPECT_EQ(below.study_id, above.study_id);
  EXPECT_EQ(below.trials.front().trial_id, above.trials.front().trial_id);
  EXPECT_NE(below.study_id, other.study_id);
}

TEST(Simulated, GivesATrialThatARankReads) {
  const auto plan = make_plan(simulated_of(kForCuda), trainer());
  for (const protocol::Trial& trial : plan.trials) EXPECT_NO_THROW(protocol::parse_trial(protocol::to_json(trial))) << trial.arm;
  EXPECT_EQ(protocol::started_ranks(plan.trials.front()), (std::vector<std::int64_t>{0}));
}

}  // namespace
}  // namespace rematch::plan

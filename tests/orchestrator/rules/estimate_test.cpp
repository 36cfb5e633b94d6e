// The estimate of a step's time, against the formula of reports/METRICS.md worked out by hand.
#include "orchestrator/rules/estimate.h"

#include <gtest/gtest.h>

#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using protocol::CommOperation;
using protocol::Pass;

// 1 ns a flop, a byte of memory, 10 ns a byte of NVLink, 100 of network, 1000 a launch.
const base::DeviceRow kRoundDevice = {"round", {0, ""}, {0, ""}, {0, ""}, {1e9, ""}, {1e9, ""}, {1e8, ""}, {1e7, ""}, {1000, ""}};
const protocol::ParallelDims kOneNode({.world_size = 8, .tensor_model_parallel_size = 4});
const protocol::ParallelDims kTwoNodes({.world_size = 16, .tensor_model_parallel_size = 4});

double forward_ns(const protocol::StepRecord& step, const protocol::ParallelDims& dims = kOneNode, std::int64_t rank = 0) {
  return pass_time_ns(step, Pass::kForward, rank, dims, kRoundDevice);
}

protocol::StepRecord working(const protocol::WorkCount& work) {
  protocol::StepRecord step;
  step.work = {work};
  return step;
}
protocol::StepRecord communicating(const std::string& axis, CommOperation operation, std::int64_t bytes) {
  protocol::StepRecord step;
  step.communication = {{axis, Pass::kForward, operation, 1, bytes, 77}};
  return step;
}

TEST(PassTime, OfProductsIsTheLongerOfArithmeticAndBytes) {
  EXPECT_DOUBLE_EQ(forward_ns(working({Pass::kForward, 9000, 4000, 0, 1})), 9000);
  EXPECT_DOUBLE_EQ(forward_ns(working({Pass::kForward, 3000, 4000, 0, 1})), 4000);
}

TEST(PassTime, AddsTheBytesOfEverythingElse) { EXPECT_DOUBLE_EQ(forward_ns(working({Pass::kForward, 9000, 4000, 500, 1})), 9500); }

TEST(PassTime, IsNoShorterThanItsLaunches) {
  EXPECT_DOUBLE_EQ(forward_ns(working({Pass::kForward, 9000, 4000, 500, 9})), 9500);
  EXPECT_DOUBLE_EQ(forward_ns(working({Pass::kForward, 9000, 4000, 500, 10})), 10000);
}

TEST(PassTime, CountsItsOwnPassOnly) { EXPECT_DOUBLE_EQ(forward_ns(working({Pass::kBackward, 9000, 4000, 500, 10})), 0); }

TEST(PassTime, OfACollectiveIsWhatCrossesTheLinkOfARing) {
  EXPECT_DOUBLE_EQ(forward_ns(communicating("tp", CommOperation::kAllReduce, 400)), 2 * 300 * 10);
  for (const auto operation : {CommOperation::kAllGather, CommOperation::kReduceScatter, CommOperation::kAllToAll})
    EXPECT_DOUBLE_EQ(forward_ns(communicating("tp", operation, 400)), 300 * 10);
}

TEST(PassTime, TakesTheNetworkWhereAGroupLeavesItsNode) {
  EXPECT_DOUBLE_EQ(forward_ns(communicating("tp", CommOperation::kAllGather, 400), kTwoNodes), 300 * 10);
  EXPECT_DOUBLE_EQ(forward_ns(communicating("dp", CommOperation::kAllGather, 400), kTwoNodes), 300 * 100);
  EXPECT_DOUBLE_EQ(forward_ns(communicating("dp", CommOperation::kAllGather, 400), kOneNode), 200 * 10);
}

TEST(PassTime, SendsAndReceivesAtOnce) {
  const protocol::ParallelDims pipeline({.world_size = 4, .pipeline_model_parallel_size = 4});
  protocol::StepRecord step = communicating("pp", CommOperation::kSend, 100);
  step.communication.push_back({"pp", Pass::kForward, CommOperation::kReceive, 1, 300, 77});
  EXPECT_DOUBLE_EQ(forward_ns(step, pipeline, 1), 300 * 10);
}

TEST(BubbleFactor, IsThatOfAPipelineOfItsChunks) {
  protocol::Trial trial = tests::make_trial(4);
  trial.parallel.pipeline_model_parallel_size = 4;
  trial.training.global_batch_size = 8;
  EXPECT_DOUBLE_EQ(bubble_factor(trial), 11.0 / 8);
  trial.parallel.virtual_pipeline_model_parallel_size = 3;
  EXPECT_DOUBLE_EQ(bubble_factor(trial), 9.0 / 8);
  EXPECT_DOUBLE_EQ(bubble_factor(tests::make_trial(2)), 1);
}

// Two pipeline stages, one micro-batch in flight at a time: a bubble of (2 + 1) / 2.
base::AttemptRows predicted_attempt() {
  tests::StudyBuilder builder("estimate", {.world_size = 2, .pipeline_model_parallel_size = 2});
  base::AttemptRows attempt = builder.run("[]");
  attempt.trial.training.global_batch_size = 2;
  attempt.trial.training.micro_batch_size = 1;
  attempt.trial.backend.device = "meta";
  attempt.trial.prediction = protocol::PredictionSpec{.device = "H100-80GB", .device_memory_bytes = 1};
  for (base::RankRows& rank : attempt.ranks) {
    rank.steps.back().communication.clear();
    const std::int64_t flops = rank.rank == 1 ? 2'000'000'000'000 : 1'000'000'000'000;
    rank.steps.back().work = {{Pass::kForward, flops, 0, 0, 1}, {Pass::kReplay, flops / 2, 0, 0, 1}, {Pass::kUpdate, flops, 0, 0, 1}};
  }
  return attempt;
}

TEST(EstimatedStep, IsThatOfTheRankThatTakesLongestWithItsReplayApart) {
  const auto estimate = estimate_step(predicted_attempt()).value();
  const double forward = 2e12 / base::find_device("H100-80GB")->matmul_flops_per_s.value * 1e9;
  EXPECT_EQ(estimate.rank, 1);
  EXPECT_NEAR(estimate.time_ns, forward * 1.5 + forward / 2 * 1.5 + forward, 1e-3);
  EXPECT_NEAR(estimate.replay_ns, forward / 2 * 1.5, 1e-3);
}

TEST(EstimatedStep, IsNotThereWithoutTheWorkOfEveryRank) {
  base::AttemptRows attempt = predicted_attempt();
  attempt.ranks.front().steps.back().work.clear();
  EXPECT_FALSE(estimate_step(attempt));
  attempt = predicted_attempt();
  attempt.ranks.front().steps.clear();
  EXPECT_FALSE(estimate_step(attempt));
  attempt = predicted_attempt();
  attempt.trial.prediction.reset();
  EXPECT_FALSE(estimate_step(attempt)) << "measured runs have times of their own";
}

}  // namespace
}  // namespace rematch::rules

// Expert loads that are refused, and which ranks are alike: by pipeline stage and by the rows that their experts get, to the row.
#include "schemas/protocol/prediction.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "tests/schemas/protocol/expect_refused.h"
#include "tests/schemas/protocol/sample_documents.h"

namespace rematch::protocol {
namespace {

using Ranks = std::vector<std::int64_t>;

// 8 experts, 2 of them a token, 1024 tokens a micro-batch.
Trial predicted_trial(const ParallelSpec& parallel, const ExpertLoad& load = {}) {
  Trial trial = sample_trial();
  trial.backend.device = "meta";
  trial.model.fields["num_moe_experts"] = std::int64_t{8};
  trial.model.fields["moe_router_topk"] = std::int64_t{2};
  trial.training.seq_length = 1024;
  trial.parallel = parallel;
  trial.prediction = PredictionSpec{.device = "test", .expert_load = load};
  return trial;
}

std::vector<Ranks> classes_of(const Trial& trial) {
  std::vector<Ranks> classes;
  for (const RankClass& alike : rank_classes(trial)) {
    EXPECT_EQ(alike.rank, alike.ranks.front());
    classes.push_back(alike.ranks);
  }
  return classes;
}

TEST(RankClasses, WithoutAPredictionEveryRankIsAlone) {
  Trial trial = predicted_trial({.world_size = 4, .expert_model_parallel_size = 4});
  trial.prediction.reset();
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0}, {1}, {2}, {3}}));
  EXPECT_EQ(started_ranks(trial), (Ranks{0, 1, 2, 3}));
}

TEST(RankClasses, AreThePipelineStagesOfABalancedLoad) {
  const Trial trial = predicted_trial({.world_size = 8, .pipeline_model_parallel_size = 2, .expert_model_parallel_size = 4});
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(started_ranks(trial), (Ranks{0, 4}));
}

TEST(RankClasses, OfAModelWithoutExpertsAreItsPipelineStages) {
  Trial trial = predicted_trial({.world_size = 4, .tensor_model_parallel_size = 2, .pipeline_model_parallel_size = 2});
  trial.model.fields["num_moe_experts"] = std::int64_t{0};
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 1}, {2, 3}}));
}

TEST(RankClasses, SplitWhereTheChoicesDoNotDivideByTheExperts) {
  // 1022 tokens in 2 shards have 1022 choices: 128 for each of the first 6 experts, 127 for the last 2.
  Trial trial =
      predicted_trial({.world_size = 8, .tensor_model_parallel_size = 2, .expert_model_parallel_size = 4, .sequence_parallel = true});
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 1, 2, 3, 4, 5, 6, 7}}));
  trial.training.seq_length = 1022;
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 1, 2, 4, 5, 6}, {3, 7}}));
}

TEST(RankClasses, CountTheShardsOfContextParallelRanks) {
  // 1020 tokens have 2040 choices, 255 for each expert; in 2 shards 1020, 128 for the first 4 experts and 127 for the last 4.
  Trial trial = predicted_trial({.world_size = 4, .expert_model_parallel_size = 2});
  trial.training.seq_length = 1020;
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 1, 2, 3}}));
  trial.parallel.context_parallel_size = 2;
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 2}, {1, 3}}));
}

TEST(RankClasses, OfAnImbalanceSetTheFirstExpertRanksApart) {
  const Trial trial = predicted_trial({.world_size = 8, .expert_model_parallel_size = 4}, {.kind = "imbalance", .imbalance = 1.75});
  // 896 rows for the first, 384 for each of the others.
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 4}, {1, 2, 3, 5, 6, 7}}));
}

TEST(RankClasses, OfAnImbalanceSplitByOneRowOfRounding) {
  const Trial trial = predicted_trial({.world_size = 4, .expert_model_parallel_size = 4}, {.kind = "imbalance", .imbalance = 1.1});
  // Shares of an expert: 0.1375 and 0.120833 of 2048 choices, 281.6 and 247.47. Rounded down they lack 4: two go to the first rank, two to
  // the second, of equal remainders the first.
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0}, {1}, {2, 3}}));
  Trial shorter = trial;
  shorter.training.seq_length = 1023;
  // 2046 choices, 281.325 and 247.225: the 2 lacking are the first rank's.
  EXPECT_EQ(classes_of(shorter), (std::vector<Ranks>{{0}, {1, 2, 3}}));
}

TEST(RankClasses, WithExpertTensorParallelRanksAreThoseOfTheSameExperts) {
  const Trial trial = predicted_trial({.world_size = 4, .expert_model_parallel_size = 2, .expert_tensor_parallel_size = 2},
                                      {.kind = "imbalance", .imbalance = 1.5});
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 1}, {2, 3}}));
}

TEST(RankClasses, OfAHistogramAreThoseWithTheSameSum) {
  const ExpertLoad load{.kind = "histogram", .histogram = std::vector<std::int64_t>{92, 100, 96, 96, 200, 248, 192, 0}};
  const Trial trial = predicted_trial({.world_size = 4, .expert_model_parallel_size = 4}, load);
  EXPECT_EQ(classes_of(trial), (std::vector<Ranks>{{0, 1, 3}, {2}}));
}

ExpertLoad histogram_of(std::vector<std::int64_t> counts) { return {.kind = "histogram", .histogram = std::move(counts)}; }

TEST(ExpertShares, RefuseAHistogramThatIsNoneOfTheExpertsAndSayWhere) {
  expect_refused(
      [] {
        expert_shares(histogram_of({1, 2, 3}), 4, 1);
      },
      {"expert_load.histogram: wanted one number", "4 experts", "found 3"});
  expect_refused([] { expert_shares(histogram_of({1, 2, -3, 4}), 4, 1); }, {"expert_load.histogram[2]: wanted 0 or more", "found -3"});
  expect_refused([] { expert_shares(histogram_of({0, 0, 0, 0}), 4, 1); }, {"expert_load.histogram: wanted tokens", "found 0 for all 4"});
  const auto half = std::int64_t{1} << 62;
  expect_refused([&] { expert_shares(histogram_of({half, 0, 0, half}), 4, 1); }, {"expert_load.histogram[3]: wanted a sum", "2^63"});
  EXPECT_EQ(expert_shares(histogram_of({half, 0, 0, half - 1}), 4, 1).front(), 0.5);
}

TEST(ExpertShares, WantTheFieldOfTheirKindAndNoOther) {
  const std::vector<std::int64_t> counts{1, 2, 3, 4};
  expect_refused([] { expert_shares({.kind = "imbalance"}, 4, 2); },
                 {"expert_load.imbalance: wanted a value with kind imbalance, found null"});
  expect_refused([] { expert_shares({.kind = "histogram"}, 4, 2); }, {"expert_load.histogram: wanted a value with kind histogram"});
  expect_refused([] { expert_shares({.kind = "balanced", .imbalance = 1.5}, 4, 2); },
                 {"imbalance: wanted null with kind balanced, found one"});
  expect_refused([&] { expert_shares({.kind = "imbalance", .imbalance = 1.5, .histogram = counts}, 4, 2); },
                 {"histogram: wanted null with kind imbalance"});
  expect_refused([] { expert_shares({.kind = "imbalance", .imbalance = 2.5}, 4, 2); }, {"imbalance: wanted 1 to", "(2)", "2.5"});
}

TEST(Prediction, OfForcedBalancingWantsAModelThatForcesIt) {
  Trial trial = predicted_trial({.world_size = 2, .expert_model_parallel_size = 2}, {.kind = "forced"});
  trial.prediction->device_memory_bytes = 1;
  const auto read_again = [&] { return parse_trial(to_json(trial)); };
  expect_refused(read_again, {"expert_load.kind: forced wants model field moe_router_force_load_balancing true, found none"});
  trial.model.fields["moe_router_force_load_balancing"] = false;
  expect_refused(read_again, {"moe_router_force_load_balancing true, found false"});
  trial.model.fields["moe_router_force_load_balancing"] = true;
  EXPECT_EQ(read_again().prediction->expert_load, trial.prediction->expert_load);
}

TEST(Prediction, OfAModelWithoutExpertsHasNoStrayFields) {
  Trial trial = predicted_trial({.world_size = 1}, {.kind = "balanced", .imbalance = 1.5});
  trial.model.fields["num_moe_experts"] = std::int64_t{0};
  expect_refused([&] { rank_classes(trial); }, {"imbalance: wanted null with kind balanced"});
}

}  // namespace
}  // namespace rematch::protocol

#include "schemas/protocol/parallel_dims.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/schemas/protocol/expect_refused.h"

namespace rematch::protocol {
namespace {

using Ranks = std::vector<int>;

TEST(ParallelProblems, HasNoneForLayoutsThatDivide) {
  EXPECT_TRUE(parallel_problems({}).empty());
  EXPECT_TRUE(parallel_problems({8, 1, 1, 1, 4}).empty());
  EXPECT_TRUE(parallel_problems({16, 2, 2, 2, 8}).empty());
}

TEST(ParallelProblems, NamesEverySizeBelowOne) {
  const auto problems = parallel_problems({0, 1, -2, 1, 1});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0], "world_size: wanted 1 to 2147483647, found 0");
  EXPECT_EQ(problems[1], "pipeline_model_parallel_size: wanted 1 to 2147483647, found -2");
}

TEST(ParallelProblems, StatesTheRuleAndTheNumbers) {
  const auto problems = parallel_problems({6, 4, 1, 1, 5});
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_EQ(problems[0],
            "world_size: wanted a multiple of tensor_model_parallel_size 4 * pipeline_model_parallel_size 1 * context_parallel_size 1, "
            "found 6");
  EXPECT_EQ(problems[1],
            "world_size: wanted a multiple of expert_tensor_parallel_size 1 * expert_model_parallel_size 5 * pipeline_model_parallel_size "
            "1, found 6");
}

TEST(ParallelProblems, DoesNotOverflow) {
  const std::int64_t big = 1 << 30;
  EXPECT_EQ(parallel_problems({8, big, big, big, big}).size(), 2u);
}

TEST(ParallelDims, RefusesAnInvalidLayout) {
  expect_refused([] { ParallelDims({3, 1, 1, 1, 2}); }, {"expert_model_parallel_size 2", "found 3"});
}

TEST(ParallelDims, PutsConsecutiveRanksInAnExpertGroup) {
  const ParallelDims dims({8, 1, 1, 1, 4});
  EXPECT_EQ(dims.data_parallel_size(), 8);
  EXPECT_EQ(dims.expert_data_parallel_size(), 2);
  EXPECT_EQ(dims.group_ranks(Axis::kExpert, 1), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(dims.group_ranks(Axis::kExpert, 6), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(dims.group_ranks(Axis::kExpertData, 6), (Ranks{2, 6}));
  EXPECT_EQ(dims.group_ranks(Axis::kData, 5), (Ranks{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(ParallelDims, StridesDataGroupsByTensorAndContextAndStaysInAPipelineStage) {
  const ParallelDims dims({16, 2, 2, 2, 4});
  EXPECT_EQ(dims.data_parallel_size(), 2);
  EXPECT_EQ(dims.group_ranks(Axis::kData, 0), (Ranks{0, 4}));
  EXPECT_EQ(dims.group_ranks(Axis::kData, 15), (Ranks{11, 15}));
  EXPECT_EQ(dims.group_ranks(Axis::kExpert, 9), (Ranks{8, 9, 10, 11}));
  EXPECT_EQ(dims.group_ranks(Axis::kExpertData, 9), (Ranks{9, 13}));
}

TEST(ParallelDims, NumbersRanksAsMegatronDoes) {
  // Dense: tp, cp, dp, pp from the innermost digit on, 2 each. Experts: etp, ep, expert dp, pp, 2 each.
  const ParallelDims dims({.world_size = 16,
                           .tensor_model_parallel_size = 2,
                           .pipeline_model_parallel_size = 2,
                           .context_parallel_size = 2,
                           .expert_model_parallel_size = 2,
                           .expert_tensor_parallel_size = 2});
  const std::pair<Axis, Ranks> groups_of_rank_5[] = {{Axis::kTensor, {4, 5}},
                                                     {Axis::kContext, {5, 7}},
                                                     {Axis::kData, {1, 5}},
                                                     {Axis::kPipeline, {5, 13}},
                                                     {Axis::kDataContext, {1, 3, 5, 7}},
                                                     {Axis::kTensorContext, {4, 5, 6, 7}},
                                                     {Axis::kTensorDataContext, {0, 1, 2, 3, 4, 5, 6, 7}},
                                                     {Axis::kExpertTensor, {4, 5}},
                                                     {Axis::kExpert, {5, 7}},
                                                     {Axis::kExpertData, {1, 5}}};
  for (const auto& [axis, ranks] : groups_of_rank_5) {
    EXPECT_EQ(dims.group_ranks(axis, 5), ranks) << axis_name(axis);
    EXPECT_EQ(ranks[static_cast<std::size_t>(dims.position(axis, 5))], 5) << axis_name(axis);
  }
}

TEST(ParallelProblems, RefusesOptionsWithoutTheirAxis) {
  const auto refused = [](const ParallelSpec& spec, const std::string& option) {
    const auto problems = parallel_problems(spec);
    ASSERT_EQ(problems.size(), 1u) << option;
    EXPECT_EQ(problems[0].rfind(option, 0), 0u) << problems[0];
  };
  refused({.world_size = 2, .sequence_parallel = true}, "sequence_parallel");
  refused({.world_size = 2, .virtual_pipeline_model_parallel_size = 2}, "virtual_pipeline_model_parallel_size");
  refused({.world_size = 2, .cp_comm_type = "a2a"}, "cp_comm_type");
  refused({.world_size = 2, .num_layers_in_first_pipeline_stage = 1}, "num_layers_in_first_pipeline_stage");
}

TEST(ParallelDims, PutsEachRankInExactlyOneGroupOfEachKind) {
  const ParallelDims dims({24, 2, 3, 2, 4});
  for (int rank = 0; rank < 24; ++rank) {
    for (const Ranks& group :
         {dims.group_ranks(Axis::kData, rank), dims.group_ranks(Axis::kExpert, rank), dims.group_ranks(Axis::kExpertData, rank)}) {
      EXPECT_EQ(std::count(group.begin(), group.end(), rank), 1);
      EXPECT_TRUE(std::is_sorted(group.begin(), group.end()));
    }
    for (const int other : dims.group_ranks(Axis::kExpertData, rank))
      EXPECT_EQ(dims.group_ranks(Axis::kExpertData, other), dims.group_ranks(Axis::kExpertData, rank));
  }
}

}  // namespace
}  // namespace rematch::protocol

#include "schemas/protocol/pipeline_layers.h"

#include <gtest/gtest.h>

namespace rematch::protocol {
namespace {

struct Split {
  std::int64_t num_layers;
  std::int64_t pipeline_size;
  std::int64_t chunks = 1;
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;
  bool embedding = false;
  bool loss = false;
};

ParallelSpec spec_of(const Split& split) {
  ParallelSpec spec{.world_size = split.pipeline_size, .pipeline_model_parallel_size = split.pipeline_size};
  if (split.chunks > 1) spec.virtual_pipeline_model_parallel_size = split.chunks;
  spec.num_layers_in_first_pipeline_stage = split.first;
  spec.num_layers_in_last_pipeline_stage = split.last;
  spec.account_for_embedding_in_pipeline_split = split.embedding;
  spec.account_for_loss_in_pipeline_split = split.loss;
  return spec;
}

// Layers of each virtual stage, in their order.
std::vector<std::int64_t> counts_of(const Split& split) {
  std::vector<std::int64_t> counts;
  std::int64_t next = 0;
  const auto num_stages = split.pipeline_size * split.chunks;
  for (std::int64_t stage = 0; stage < num_stages; ++stage) {
    const auto chunk = chunk_layers(split.num_layers, spec_of(split), stage % split.pipeline_size, stage / split.pipeline_size);
    EXPECT_EQ(chunk.first, next);
    EXPECT_EQ(chunk.has_embedding, stage == 0);
    EXPECT_EQ(chunk.has_head, stage == num_stages - 1);
    counts.push_back(chunk.count);
    next += chunk.count;
  }
  EXPECT_EQ(next, split.num_layers);
  return counts;
}

TEST(ChunkLayers, FollowTheVirtualStagesAndCoverTheModel) {
  struct Case {
    Split split;
    std::vector<std::int64_t> counts;
  };
  const std::vector<Case> cases = {
      {{.num_layers = 5, .pipeline_size = 1}, {5}},
      {{.num_layers = 8, .pipeline_size = 4}, {2, 2, 2, 2}},
      {{.num_layers = 8, .pipeline_size = 2, .chunks = 2}, {2, 2, 2, 2}},
      {{.num_layers = 12, .pipeline_size = 2, .chunks = 3}, {2, 2, 2, 2, 2, 2}},
      {{.num_layers = 9, .pipeline_size = 4, .first = 1, .last = 2}, {1, 3, 3, 2}},
      {{.num_layers = 7, .pipeline_size = 3, .first = 3}, {3, 2, 2}},
      {{.num_layers = 7, .pipeline_size = 3, .last = 1}, {3, 3, 1}},
      {{.num_layers = 7, .pipeline_size = 2, .first = 3, .last = 4}, {3, 4}},
      {{.num_layers = 10, .pipeline_size = 3, .chunks = 2, .first = 2, .last = 4}, {1, 2, 2, 1, 2, 2}},
      {{.num_layers = 6, .pipeline_size = 4, .embedding = true, .loss = true}, {1, 2, 2, 1}},
      {{.num_layers = 7, .pipeline_size = 2, .chunks = 2, .embedding = true}, {1, 2, 2, 2}},
      {{.num_layers = 7, .pipeline_size = 2, .chunks = 2, .loss = true}, {2, 2, 2, 1}},
      {{.num_layers = 2, .pipeline_size = 4, .embedding = true, .loss = true}, {0, 1, 1, 0}},
  };
  for (const auto& [split, counts] : cases) {
    SCOPED_TRACE(testing::Message() << split.num_layers << " layers on " << split.pipeline_size << " x " << split.chunks);
    EXPECT_TRUE(pipeline_problems(split.num_layers, spec_of(split)).empty());
    EXPECT_EQ(counts_of(split), counts);
  }
}

TEST(PipelineProblems, StateTheRuleAndTheNumbers) {
  struct Case {
    Split split;
    std::vector<std::string> problems;
  };
  const std::string share = " pipeline ranks that share them, at least one each, found ";
  const std::vector<Case> cases = {
      {{.num_layers = 7, .pipeline_size = 2}, {"num_layers 7: wanted a multiple of the 2" + share + "7"}},
      {{.num_layers = 0, .pipeline_size = 2}, {"num_layers 0: wanted a multiple of the 2" + share + "0"}},
      {{.num_layers = 9, .pipeline_size = 4, .first = 2, .last = 2},
       {"num_layers 9 - num_layers_in_first_pipeline_stage 2 - num_layers_in_last_pipeline_stage 2: wanted a multiple of the 2" + share +
        "5"}},
      {{.num_layers = 4, .pipeline_size = 3, .first = 5},
       {"num_layers 4 - num_layers_in_first_pipeline_stage 5: wanted a multiple of the 2" + share + "-1"}},
      {{.num_layers = 4, .pipeline_size = 2, .first = 3, .last = 2},
       {"num_layers 4 - num_layers_in_first_pipeline_stage 3 - num_layers_in_last_pipeline_stage 2: wanted 0, since no other pipeline rank "
        "is left, found -1"}},
      {{.num_layers = 8, .pipeline_size = 4, .embedding = true},
       {"num_layers 8 + 1 for the embedding: wanted a multiple of the 4" + share + "9"}},
      {{.num_layers = 6, .pipeline_size = 2, .chunks = 2},
       {"pipeline rank 0: wanted a number of layers that virtual_pipeline_model_parallel_size 2 divides, found 3",
        "pipeline rank 1: wanted a number of layers that virtual_pipeline_model_parallel_size 2 divides, found 3"}},
      {{.num_layers = 7, .pipeline_size = 2, .chunks = 2, .first = 3},
       {"pipeline rank 0: wanted a number of layers that virtual_pipeline_model_parallel_size 2 divides, found 3"}},
      {{.num_layers = 8, .pipeline_size = 2, .first = 4, .loss = true},
       {"account_for_embedding_in_pipeline_split and account_for_loss_in_pipeline_split: wanted false with "
        "num_layers_in_first_pipeline_stage or num_layers_in_last_pipeline_stage, found true; leave one of them out"}},
  };
  for (const auto& [split, problems] : cases) EXPECT_EQ(pipeline_problems(split.num_layers, spec_of(split)), problems);
}

TEST(ScheduleProblems, WantWholeGroupsOfMicroBatchesWhereChunksInterleave) {
  const auto interleaved = spec_of({.num_layers = 8, .pipeline_size = 4, .chunks = 2});
  EXPECT_TRUE(schedule_problems(8, interleaved).empty());
  EXPECT_TRUE(schedule_problems(6, spec_of({.num_layers = 8, .pipeline_size = 4})).empty());
  ASSERT_EQ(schedule_problems(6, interleaved).size(), 1u);
  EXPECT_EQ(schedule_problems(6, interleaved)[0],
            "micro-batches of a step (global_batch_size / (micro_batch_size * data parallel size)): wanted a multiple of "
            "pipeline_model_parallel_size 4 with virtual_pipeline_model_parallel_size 2, found 6");
}

}  // namespace
}  // namespace rematch::protocol

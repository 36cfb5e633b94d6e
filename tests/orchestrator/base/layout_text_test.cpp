#include "orchestrator/base/layout_text.h"

#include <gtest/gtest.h>

namespace rematch::base {
namespace {

TEST(LayoutText, NamesEveryDegreeThatIsNotOne) {
  EXPECT_EQ(layout_text({}), "1 rank");
  EXPECT_EQ(layout_text({.world_size = 2, .expert_model_parallel_size = 2}), "2 ranks, EP=2 DP=2");
  EXPECT_EQ(layout_text({.world_size = 16,
                         .tensor_model_parallel_size = 2,
                         .pipeline_model_parallel_size = 2,
                         .context_parallel_size = 2,
                         .expert_model_parallel_size = 2,
                         .expert_tensor_parallel_size = 2,
                         .virtual_pipeline_model_parallel_size = 3,
                         .sequence_parallel = true,
                         .cp_comm_type = "all_gather",
                         .num_layers_in_first_pipeline_stage = 5}),
            "16 ranks, TP=2 PP=2 VPP=3 CP=2 EP=2 ETP=2 DP=2, SP, cp_comm_type all_gather, 5 layers first");
}

TEST(PipelinePlace, IsTheRanksPositionInItsPipeline) {
  const protocol::ParallelSpec spec{.world_size = 8, .pipeline_model_parallel_size = 4};
  EXPECT_EQ(pipeline_place(spec, 5), "pipeline rank 2 of 4");
  EXPECT_EQ(pipeline_place({.world_size = 8}, 5), "");
}

}  // namespace
}  // namespace rematch::base

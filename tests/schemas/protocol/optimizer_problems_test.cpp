#include "schemas/protocol/optimizer_problems.h"

#include <gtest/gtest.h>

namespace rematch::protocol {
namespace {

std::vector<std::string> options_refused(const OptimizerSpec& optimizer) {
  std::vector<std::string> options;
  for (const auto& problem : optimizer_problems(optimizer)) {
    EXPECT_NE(problem.message.find("wanted"), std::string::npos);
    EXPECT_NE(problem.message.find("found"), std::string::npos);
    options.push_back(problem.option);
  }
  return options;
}

TEST(OptimizerProblems, AreNoneInEachModeOfMegatron) {
  EXPECT_TRUE(options_refused({}).empty());
  EXPECT_TRUE(options_refused({.use_distributed_optimizer = false, .grad_reduce_in_fp32 = true}).empty());
  EXPECT_TRUE(options_refused({.use_precision_aware_optimizer = true, .exp_avg_dtype = "bf16", .exp_avg_sq_dtype = "fp32"}).empty());
  EXPECT_TRUE(options_refused({.fp8_recipe = "tensorwise"}).empty());  // as Megatron Bridge writes it in every run
}

TEST(OptimizerProblems, APrecisionAwareOptimizerWantsShards) {
  EXPECT_EQ(options_refused({.use_distributed_optimizer = false, .use_precision_aware_optimizer = true}),
            std::vector<std::string>{"use_precision_aware_optimizer"});
}

TEST(OptimizerProblems, MomentsInFewerBytesWantAPrecisionAwareOptimizer) {
  EXPECT_EQ(options_refused({.exp_avg_dtype = "bf16", .exp_avg_sq_dtype = "fp8"}),
            (std::vector<std::string>{"exp_avg_dtype", "exp_avg_sq_dtype"}));
}

}  // namespace
}  // namespace rematch::protocol

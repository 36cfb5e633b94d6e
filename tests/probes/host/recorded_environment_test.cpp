#include "probes/host/recorded_environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace rematch::probes {
namespace {

class RecordedEnvironment : public testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"NCCL_REMATCH_TEST", "REMATCH_TEST", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) ::unsetenv(name);
  }
};

TEST_F(RecordedEnvironment, HoldsWhatMayChangeAMeasurementAndNothingElse) {
  ::setenv("NCCL_REMATCH_TEST", "a=b", 1);
  ::setenv("REMATCH_TEST", "1", 1);
  const auto recorded = recorded_environment();
  EXPECT_EQ(recorded.at("NCCL_REMATCH_TEST"), "a=b");
  EXPECT_FALSE(recorded.contains("REMATCH_TEST"));
  EXPECT_FALSE(recorded.contains("PATH"));
}

TEST_F(RecordedEnvironment, HasTheAllocatorSettingsUnderEitherName) {
  EXPECT_EQ(allocator_settings(), std::nullopt);
  ::setenv("PYTORCH_ALLOC_CONF", "max_split_size_mb:128", 1);
  EXPECT_EQ(allocator_settings(), "max_split_size_mb:128");
  ::setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", 1);
  EXPECT_EQ(allocator_settings(), "expandable_segments:True") << "LibTorch reads this one first";
}

}  // namespace
}  // namespace rematch::probes

#include "probes/host/rss.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace rematch::probes {
namespace {

TEST(ResidentBytes, GrowsByWhatIsTouchedAndKeepsItsPeak) {
  constexpr std::int64_t kTouchedBytes = 16 << 20;
  constexpr std::int64_t kSlackBytes = 1 << 20;  // pages that the kernel counts late
  const ResidentBytes before = resident_bytes();
  ASSERT_TRUE(before.current_bytes && before.peak_bytes);
  {
    std::vector<char> block(kTouchedBytes);
    std::memset(block.data(), 1, block.size());
    EXPECT_GE(*resident_bytes().current_bytes, *before.current_bytes + kTouchedBytes - kSlackBytes);
  }
  EXPECT_GE(*resident_bytes().peak_bytes, *before.current_bytes + kTouchedBytes - kSlackBytes);
}

}  // namespace
}  // namespace rematch::probes

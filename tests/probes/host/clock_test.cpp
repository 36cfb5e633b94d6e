#include "probes/host/clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rematch::probes {
namespace {

TEST(Clock, NeverGoesBack) {
  std::int64_t last = mono_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t now = mono_ns();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Clock, CountsNanosecondsSince1970) {
  const auto wall = [] {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  };
  const std::int64_t before = wall();
  const std::int64_t now = unix_ns();
  EXPECT_GE(now, before);
  EXPECT_LE(now, wall());
}

}  // namespace
}  // namespace rematch::probes

#include "orchestrator/base/slurm_time.h"

#include <gtest/gtest.h>

namespace rematch::base {
namespace {

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kDay = 24 * kHour;

TEST(SlurmLimit, CountsMinutesWhereOneNumberIsWritten) {
  EXPECT_EQ(parse_slurm_limit_s("90"), 90 * 60);
  EXPECT_EQ(parse_slurm_limit_s("90:30"), 90 * 60 + 30);
  EXPECT_EQ(parse_slurm_limit_s("1:30:05"), kHour + 30 * 60 + 5);
  EXPECT_EQ(parse_slurm_limit_s("2-12"), 2 * kDay + 12 * kHour);
  EXPECT_EQ(parse_slurm_limit_s("2-12:30"), 2 * kDay + 12 * kHour + 30 * 60);
  EXPECT_EQ(parse_slurm_limit_s("2-00:00:01"), 2 * kDay + 1);
}

TEST(SlurmSpan, EndsInSeconds) {
  EXPECT_EQ(parse_slurm_span_s("3:04"), 3 * 60 + 4);
  EXPECT_EQ(parse_slurm_span_s("0:07"), 7);
  EXPECT_EQ(parse_slurm_span_s("2:03:04"), 2 * kHour + 3 * 60 + 4);
  EXPECT_EQ(parse_slurm_span_s("1-02:03:04"), kDay + 2 * kHour + 3 * 60 + 4);
}

TEST(SlurmLimit, IsNoneWhereItIsZero) {
  for (const char* text : {"0", "0:00", "0-0"}) EXPECT_EQ(parse_slurm_limit_s(text), std::nullopt) << text;
  EXPECT_EQ(parse_slurm_span_s("0:00"), 0);
}

TEST(SlurmTime, IsNullWhereItIsNoTime) {
  for (const char* text : {"", "UNLIMITED", "INFINITE", "INVALID", "1:2:3:4", "-5", "1-", ":30", "1:", "5h", "99999999999999999999"}) {
    EXPECT_EQ(parse_slurm_limit_s(text), std::nullopt) << text;
    EXPECT_EQ(parse_slurm_span_s(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_slurm_span_s("90"), std::nullopt);
}

}  // namespace
}  // namespace rematch::base

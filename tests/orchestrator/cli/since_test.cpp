#include "orchestrator/cli/since.h"

#include <gtest/gtest.h>

namespace rematch::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 1'700'000'000 * kSecond;

std::int64_t since(const std::string& text) { return parse_since(text, kNow).value(); }

TEST(Since, ReadsDatesAndTimesOfDayInUtc) {
  EXPECT_EQ(since("1970-01-01"), 0);
  EXPECT_EQ(since("2023-11-14T22:13:20"), kNow);
  EXPECT_EQ(since("2023-11-14 22:13:20Z"), kNow);
  EXPECT_EQ(since("2023-11-14T22:13"), kNow - 20 * kSecond);
  EXPECT_EQ(since("2024-02-29") - since("2024-02-28"), 86'400 * kSecond);
}

TEST(Since, ReadsHowLongAgo) {
  EXPECT_EQ(since("90s"), kNow - 90 * kSecond);
  EXPECT_EQ(since("30m"), kNow - 1800 * kSecond);
  EXPECT_EQ(since("6h"), kNow - 21'600 * kSecond);
  EXPECT_EQ(since("2d"), kNow - 172'800 * kSecond);
  EXPECT_EQ(since("1w"), kNow - 604'800 * kSecond);
}

TEST(Since, BeginsIn1970HoweverLongAgoIsMeant) {
  EXPECT_EQ(since("200000d"), 0);
  EXPECT_EQ(since("999999w"), 0);
  EXPECT_EQ(since("472223h"), 0);
  EXPECT_EQ(since("472222h"), kNow - 472'222 * 3600 * kSecond);
}

TEST(Since, RefusesAllElseAndNamesTheForms) {
  for (const char* text : {"", "yesterday", "2d6h", "-2d", "2", "2023-02-29", "2023-13-01", "2023-11-14T25:00", "2023-11-14T10",
                           "9999-01-01", "2023-11-14T10:00+01:00", "9999999d"}) {
    const auto refused = parse_since(text, kNow);
    ASSERT_FALSE(refused) << text;
    EXPECT_NE(refused.error().message.find("a time in UTC, such as 2026-11-01"), std::string::npos);
    EXPECT_NE(refused.error().message.find(std::string("found '") + text + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace rematch::cli

#include "orchestrator/spec/units.h"

#include <gtest/gtest.h>

namespace rematch::spec {
namespace {

TEST(Durations, AreReadInTheirUnit) {
  EXPECT_EQ(parse_duration_ms("10min"), 600'000);
  EXPECT_EQ(parse_duration_ms("1.5 s"), 1'500);
  EXPECT_EQ(parse_duration_ms("2h"), 7'200'000);
}

TEST(Durations, WithoutAKnownUnitAreNoDurations) {
  for (const char* text : {"10", "10m", "10 minutes", "min", "-1s", "", "1e3s"}) EXPECT_EQ(parse_duration_ms(text), std::nullopt) << text;
}

TEST(Sizes, TellPowersOfTenFromPowersOfTwo) {
  EXPECT_EQ(parse_size_bytes("80GB"), 80'000'000'000);
  EXPECT_EQ(parse_size_bytes("2GiB"), 2'147'483'648);
  EXPECT_EQ(parse_size_bytes("1.5MiB"), 1'572'864);
}

TEST(Sizes, WithoutAKnownUnitAreNoSizes) {
  for (const char* text : {"2", "2G", "2gib", "2Gb", "GiB", "9999999999TiB"}) EXPECT_EQ(parse_size_bytes(text), std::nullopt) << text;
}

TEST(Percentages, NeedTheirSign) {
  EXPECT_DOUBLE_EQ(*parse_percent("2.5%"), 0.025);
  EXPECT_EQ(parse_percent("2.5"), std::nullopt);
}

TEST(FormattedQuantities, ReadBackTheSame) {
  for (const std::int64_t bytes : {1LL, 1000LL, 1024LL, 80'000'000'000LL, 3LL << 30, 1'234'567'891LL})
    EXPECT_EQ(parse_size_bytes(format_size_bytes(bytes)), bytes);
  EXPECT_EQ(format_size_bytes(2LL << 30), "2GiB");
  EXPECT_EQ(format_duration_ms(90'000), "90s");
  EXPECT_EQ(format_duration_ms(600'000), "10min");
}

}  // namespace
}  // namespace rematch::spec

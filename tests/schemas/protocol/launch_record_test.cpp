#include "schemas/protocol/launch_record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/schemas/protocol/expect_refused.h"
#include "tests/schemas/protocol/sample_documents.h"

namespace rematch::protocol {
namespace {

using nlohmann::json;

TEST(LaunchRecord, ReadsBackWhatItWroteByteForByte) {
  const std::string text = to_json(sample_launch()).dump();
  EXPECT_EQ(to_json(parse_launch_record(json::parse(text))).dump(), text);
}

TEST(LaunchRecord, TellsASignalFromAnExitCode) {
  const LaunchRecord launch = parse_launch_record(to_json(sample_launch()));
  ASSERT_EQ(launch.ranks.size(), 2u);
  EXPECT_EQ(launch.ranks[0].exit_code, std::nullopt);
  EXPECT_EQ(launch.ranks[0].signal, 15);
  EXPECT_EQ(launch.ranks[1].exit_code, 10);
  EXPECT_EQ(launch.ranks[1].signal, std::nullopt);
  EXPECT_EQ(launch.cause_rank, 1);
}

TEST(LaunchRecord, KeepsEveryWayToEnd) {
  for (const LaunchEnd end : {LaunchEnd::kAllExited, LaunchEnd::kRankFailed, LaunchEnd::kTimeout, LaunchEnd::kInterrupted,
                              LaunchEnd::kControllerLost, LaunchEnd::kLaunchFailed, LaunchEnd::kNodeFailed}) {
    LaunchRecord launch = sample_launch();
    launch.end = end;
    EXPECT_EQ(parse_launch_record(to_json(launch)).end, end);
  }
}

TEST(LaunchRecord, NamesTheRankThatIsWrong) {
  json document = to_json(sample_launch());
  document["ranks"][1]["pid"] = "102";
  expect_refused([&] { parse_launch_record(document); }, {"launch.ranks[1].pid", "a 64-bit integer", "\"102\""});
}

}  // namespace
}  // namespace rematch::protocol

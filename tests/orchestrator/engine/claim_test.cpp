#include "orchestrator/engine/claim.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/engine/claim_files.h"
#include "orchestrator/launch/this_host.h"
#include "schemas/protocol/record_file.h"
#include "tests/support/temp_dir.h"

namespace rematch::engine {
namespace {

using protocol::RunnerEnd;
using protocol::RunnerRecord;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Time that passes only while somebody sleeps; `each_sleep` is what others do meanwhile.
struct FakeTime {
  std::chrono::steady_clock::time_point now{};
  std::int64_t num_sleeps = 0;
  std::function<void(std::int64_t)> each_sleep = [](std::int64_t) {};

  ClaimClock clock() {
    return {[this] { return now; },
            [this](milliseconds duration) {
              now += duration;
              each_sleep(++num_sleeps);
            },
            [this] { return (now.time_since_epoch()).count() + 1; }};
  }
};

RunnerRecord runner(const std::string& scope, char id) {
  RunnerRecord record;
  record.scope = scope;
  record.runner_id = std::string(16, id);
  record.host = "elsewhere";
  record.pid = 7;
  return record;
}

bool study_overlaps(const std::string& scope, const std::string& other) { return scope == other || scope == "study" || other == "study"; }

class ClaimTest : public ::testing::Test {
 protected:
  ClaimOptions options(const std::string& scope) {
    ClaimOptions options;
    options.overlaps = [scope](const std::string& other) { return study_overlaps(scope, other); };
    options.clock = time_.clock();
    options.tell = [this](const std::string& message) { told_.push_back(message); };
    return options;
  }
  Claim claim(const std::string& scope, char id) { return {folder_.path(), runner(scope, id), options(scope)}; }
  // For a process that must not come back to the test; 99: it could not be filed.
  int epoch_of_new_claim(char id) {
    try {
      ClaimOptions real = options("study");
      real.clock = real_clock();
      return static_cast<int>(Claim(folder_.path(), runner("study", id), real).record().epoch);
    } catch (const std::exception&) {
      return 99;
    }
  }
  RunnerRecord on_disk(const std::string& scope, std::int64_t epoch) const {
    return protocol::read_runner_record(protocol::StudyPaths{folder_.path()}.runner(scope, epoch).string());
  }

  tests::TempDir folder_;
  FakeTime time_;
  std::vector<std::string> told_;
};

TEST_F(ClaimTest, TheFirstIsGrantedAtOnceAndIsOnRecord) {
  Claim first = claim("study", 'a');
  EXPECT_FALSE(first.wait_until_granted());
  EXPECT_EQ(time_.num_sleeps, 0);
  const RunnerRecord record = on_disk("study", 1);
  EXPECT_EQ(record.runner_id, std::string(16, 'a'));
  EXPECT_EQ(record.heartbeat, 1);
  EXPECT_FALSE(record.end);
}

TEST_F(ClaimTest, ALaterOneOfTheSamePartSupersedesAndWaitsUntilTheEarlierHasEnded) {
  Claim first = claim("study", 'a');
  ASSERT_FALSE(first.wait_until_granted());
  Claim second = claim("study", 'b');
  EXPECT_TRUE(first.is_superseded());
  time_.each_sleep = [&](std::int64_t sleeps) {
    if (sleeps == 3) first.finish(RunnerEnd::kSuperseded, "a later one came");
  };
  EXPECT_FALSE(second.wait_until_granted());
  EXPECT_EQ(time_.num_sleeps, 3);
  EXPECT_EQ(on_disk("study", 1).end, RunnerEnd::kSuperseded);
  EXPECT_EQ(second.record().epoch, 2);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("pid 7 on elsewhere"), std::string::npos) << told_[0];
}

TEST_F(ClaimTest, AHeartbeatThatStandsStillFor30sMeansDeath) {
  Claim first = claim("study", 'a');
  ASSERT_FALSE(first.wait_until_granted());
  Claim second = claim("study", 'b');
  EXPECT_FALSE(second.wait_until_granted());
  EXPECT_EQ(time_.now.time_since_epoch(), seconds(30));
  EXPECT_GE(second.record().heartbeat, 6);
}

TEST_F(ClaimTest, OneThatStillBeatsIsWaitedForUntilTheDeadlineAndNamed) {
  Claim study = claim("study", 'a');
  ASSERT_FALSE(study.wait_until_granted());
  Claim block = claim("block-3", 'b');
  time_.each_sleep = [&](std::int64_t) { study.beat(); };
  const auto refused = block.wait_until_granted();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->end, RunnerEnd::kFailed);
  EXPECT_EQ(time_.now.time_since_epoch(), seconds(600));
  EXPECT_NE(refused->message.find("study, epoch 1"), std::string::npos) << refused->message;
  EXPECT_EQ(on_disk("block-3", block.record().epoch).end, RunnerEnd::kFailed);
  EXPECT_FALSE(study.is_superseded()) << "a part of it is another part";
}

TEST_F(ClaimTest, PartsWithoutCommonTrialsDoNotWaitForEachOther) {
  Claim one = claim("block-1", 'a');
  Claim two = claim("block-2", 'b');
  EXPECT_FALSE(one.wait_until_granted());
  EXPECT_FALSE(two.wait_until_granted());
  EXPECT_EQ(time_.num_sleeps, 0);
}

TEST_F(ClaimTest, OneThatWaitsEndsWhenALaterComesOrWhenItIsToldTo) {
  Claim first = claim("study", 'a');
  ASSERT_FALSE(first.wait_until_granted());
  Claim second = claim("study", 'b');
  std::optional<Claim> third;
  time_.each_sleep = [&](std::int64_t sleeps) {
    first.beat();
    if (sleeps == 2) third.emplace(folder_.path(), runner("study", 'c'), options("study"));
  };
  const auto refused = second.wait_until_granted();
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->end, RunnerEnd::kSuperseded);
  ClaimOptions told_to_end = options("study");
  told_to_end.give_up = [this] { return time_.num_sleeps >= 4; };
  Claim fourth(folder_.path(), runner("study", 'd'), told_to_end);
  const auto ended = fourth.wait_until_granted();
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->end, RunnerEnd::kInterrupted);
}

TEST_F(ClaimTest, AProcessOfThisHostThatIsGoneIsNotWaitedFor) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  RunnerRecord dead = runner("study", 'a');
  dead.host = launch::host_name();
  dead.pid = child;
  Claim first(folder_.path(), dead, options("study"));
  Claim second = claim("study", 'b');
  EXPECT_FALSE(second.wait_until_granted());
  EXPECT_EQ(time_.num_sleeps, 0);
}

TEST_F(ClaimTest, OneThatWasFiledBehindAnOverlappingClaimItDidNotSeeGivesWay) {
  const protocol::StudyPaths paths{folder_.path()};
  // It looked before the study's claim was there, and files after.
  ClaimOptions racing = options("block-1");
  int num_calls = 0;
  racing.clock.unix_ns = [&] {
    if (++num_calls == 2) {  // the first is for the record's start
      RunnerRecord study = runner("study", 'z');
      study.heartbeat = 1;
      EXPECT_TRUE(create_exclusively(paths.runner("study", 1), protocol::to_json(study).dump(), "z"));
    }
    return std::int64_t{1};
  };
  std::filesystem::create_directories(paths.runners());
  RunnerRecord block = runner("block-1", 'a');
  Claim claim(folder_.path(), block, racing);
  EXPECT_EQ(claim.record().epoch, 2);
  EXPECT_EQ(claims_in(paths.runners()).size(), 2U) << "its first file is gone";
}

TEST_F(ClaimTest, OfManyProcessesAtOnceEachHasAnEpochOfItsOwn) {
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(epoch_of_new_claim(static_cast<char>('1' + i)));
    children.push_back(child);
  }
  std::set<int> epochs;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    epochs.insert(WEXITSTATUS(status));
  }
  EXPECT_EQ(epochs, (std::set<int>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(claims_in(protocol::StudyPaths{folder_.path()}.runners()).size(), 8U);
}

TEST_F(ClaimTest, ABrokenFileIsWaitedForAsIfItLived) {
  const protocol::StudyPaths paths{folder_.path()};
  std::filesystem::create_directories(paths.runners());
  protocol::write_file_by_rename(paths.runner("study", 1), "{");
  Claim second = claim("study", 'b');
  EXPECT_EQ(second.record().epoch, 2);
  EXPECT_FALSE(second.wait_until_granted());
  EXPECT_EQ(time_.now.time_since_epoch(), seconds(30));
}

TEST(ClaimFiles, NamesAreTakenApartAtTheLastDash) {
  const auto name = parse_claim_name("/x/trial-00000000000000ab-0012.json");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->scope, "trial-00000000000000ab");
  EXPECT_EQ(name->epoch, 12);
  EXPECT_EQ(parse_claim_name("study-12345.json")->epoch, 12345);
  for (const char* other : {"study-0001.json.tmp", "study.json", "-0001.json", "study-0000.json", "study-x.json", "study-0001.json.abcd"})
    EXPECT_FALSE(parse_claim_name(other)) << other;
}

}  // namespace
}  // namespace rematch::engine

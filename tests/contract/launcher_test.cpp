// What every launcher owes the engine, whatever it launches with. A new launcher is tested by being registered.
#include "orchestrator/launch/launcher.h"

#include <gtest/gtest.h>

#include <set>

#include "orchestrator/launch/allocation.h"
#include "schemas/protocol/launch_record.h"
#include "tests/support/fake_attempt.h"

namespace rematch::tests {
namespace {

using protocol::LaunchEnd;
using protocol::LaunchRecord;
using std::chrono::milliseconds;

class LauncherContract : public ::testing::TestWithParam<std::string> {
 protected:
  LaunchRecord run(FakeAttempt& attempt, const FakeAttempt::During& during = nullptr) {
    const bool on_two_nodes = GetParam() == "srun" && attempt.trial().parallel.world_size % 2 == 0;
    attempt.request().step.num_nodes = on_two_nodes ? 2 : 1;
    const auto launcher = launch::make_launcher(GetParam());
    const auto result = attempt.run(*launcher.value(), during);
    if (!result) throw std::runtime_error("the attempt did not end within the test's deadline");
    return result->value();
  }
};

TEST_P(LauncherContract, HasTheNameItIsRegisteredBy) { EXPECT_EQ(launch::make_launcher(GetParam()).value()->name(), GetParam()); }

TEST_P(LauncherContract, ReportsThatAllRanksEndedWell) {
  FakeAttempt attempt("", 3);
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kAllExited);
  EXPECT_EQ(record.trial_id, attempt.trial().trial_id);
  EXPECT_EQ(record.attempt, 1);
  EXPECT_EQ(record.cause_rank, std::nullopt);
  EXPECT_EQ(record.strays_ended, 0);
  ASSERT_EQ(record.ranks.size(), 3U);
  std::set<std::int64_t> pids;
  for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
    EXPECT_EQ(record.ranks[rank].rank, static_cast<std::int64_t>(rank));
    EXPECT_EQ(record.ranks[rank].exit_code, 0);
    EXPECT_EQ(record.ranks[rank].signal, std::nullopt);
    EXPECT_FALSE(record.ranks[rank].ended_by_supervisor);
    EXPECT_GT(record.ranks[rank].end_mono_ns, record.ranks[rank].start_mono_ns);
    pids.insert(record.ranks[rank].pid);
  }
  EXPECT_EQ(pids.size(), 3U);
  EXPECT_EQ(attempt.num_ends, 1);
}

TEST_P(LauncherContract, StartsEveryRankHoweverSoonTheFirstOnesEnd) {
  for (int round = 0; round < 5; ++round) {
    FakeAttempt attempt(R"({"rules":[{"do":"exit","code":0}]})", 8);
    const LaunchRecord record = run(attempt);
    EXPECT_EQ(record.end, LaunchEnd::kAllExited) << record.message;
  }
}

TEST_P(LauncherContract, LeavesTheSameRecordInTheAttemptFolder) {
  FakeAttempt attempt("");
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(protocol::to_json(protocol::read_launch_record(attempt.paths().launch().string())), protocol::to_json(record));
}

TEST_P(LauncherContract, GivesEveryRankTorchrunsVariablesAndRecordsThoseTheyShare) {
  FakeAttempt attempt("", 2);
  attempt.trial().omp_num_threads = 3;
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.environment.at("WORLD_SIZE"), "2");
  EXPECT_EQ(record.environment.at("OMP_NUM_THREADS"), "3");
  EXPECT_TRUE(record.environment.contains("MASTER_ADDR"));
  EXPECT_TRUE(record.environment.contains("MASTER_PORT"));
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const auto file = protocol::read_record_file(attempt.paths().rank_record(rank));
    ASSERT_FALSE(file.records.empty());
    EXPECT_EQ(std::get<protocol::HelloRecord>(file.records.front()).rank, rank);
  }
}

TEST_P(LauncherContract, KeepsEachRanksOutputApartHoweverMuchItIs) {
  FakeAttempt attempt(R"({"rules":[{"do":"flood","megabytes":4}]})", 2);
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kAllExited);
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    EXPECT_GE(std::filesystem::file_size(attempt.paths().rank_log(rank)), 4U << 20);
    const auto text = protocol::read_whole_file(attempt.paths().rank_log(rank));
    EXPECT_TRUE(text->starts_with("rank " + std::to_string(rank) + " of trial ")) << text->substr(0, 60);
  }
}

TEST_P(LauncherContract, NamesTheRankThatEndedWithABadCodeAndItsCode) {
  FakeAttempt attempt(R"({"rules":[{"rank":1,"do":"exit","code":70,"stage":"built"},{"rank":0,"do":"hang","stage":"first_forward"}]})");
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.cause_rank, 1);
  EXPECT_EQ(record.ranks[1].exit_code, 70);
  EXPECT_TRUE(record.ranks[0].ended_by_supervisor);
}

TEST_P(LauncherContract, NamesTheRankThatDiedByASignalAndTheSignal) {
  FakeAttempt attempt(R"({"rules":[{"rank":0,"do":"signal","signal":11,"stage":"steady"},{"rank":1,"do":"hang","stage":"steady"}]})");
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.cause_rank, 0);
  EXPECT_EQ(record.ranks[0].signal, SIGSEGV);
  EXPECT_EQ(record.ranks[0].exit_code, std::nullopt);
}

TEST_P(LauncherContract, EndsTheAttemptAtTheDeadlineEvenIfRanksIgnoreSigterm) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang_hard","stage":"first_backward"}]})");
  attempt.trial().timeout_ms = time_allowance(milliseconds(300)).count();
  attempt.trial().collective_timeout_ms = 100;
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kTimeout);
  for (const protocol::RankExit& rank : record.ranks) {
    EXPECT_EQ(rank.signal, SIGKILL);
    EXPECT_TRUE(rank.ended_by_supervisor);
    EXPECT_FALSE(is_alive(static_cast<pid_t>(rank.pid)));
  }
}

TEST_P(LauncherContract, EndsADaemonThatLeftSessionAndParent) {
  FakeAttempt attempt(R"({"rules":[{"rank":1,"do":"daemon"}]})");
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kAllExited);
  EXPECT_EQ(record.strays_ended, 1);
  const pid_t daemon = daemon_pid(attempt.paths().root, 1);
  ASSERT_GT(daemon, 0);
  EXPECT_FALSE(is_alive(daemon));
}

TEST_P(LauncherContract, StopsCleanlyOnRequest) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang"}]})");
  const LaunchRecord record = run(attempt, [](auto& running) { running->stop(launch::StopKind::kCleanly); });
  EXPECT_EQ(record.end, LaunchEnd::kInterrupted);
  for (const protocol::RankExit& rank : record.ranks) EXPECT_EQ(rank.signal, SIGTERM);
}

TEST_P(LauncherContract, StopsAtOnceOnTheSecondRequest) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang_hard"}]})");
  const auto begin = std::chrono::steady_clock::now();
  const LaunchRecord record = run(attempt, [](auto& running) {
    running->stop(launch::StopKind::kCleanly);
    running->stop(launch::StopKind::kNow);
  });
  EXPECT_EQ(record.end, LaunchEnd::kInterrupted);
  EXPECT_EQ(record.ranks[0].signal, SIGKILL);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, time_allowance(std::chrono::seconds(2)))
      << "the grace of a clean stop was waited out";
}

TEST_P(LauncherContract, SaysThatATrainerCannotBeStarted) {
  FakeAttempt attempt("");
  attempt.request().trainer = attempt.paths().root / "no-such-trainer";
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kLaunchFailed);
  EXPECT_NE(record.message.find("no-such-trainer"), std::string::npos) << record.message;
  EXPECT_NE(record.message.find("No such file"), std::string::npos) << record.message;
  for (const protocol::RankExit& rank : record.ranks) EXPECT_EQ(rank.pid, 0);
}

TEST_P(LauncherContract, KnowsWhenNothingOfAnAttemptRuns) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang"}]})");
  const auto other = launch::make_launcher(GetParam());
  bool gone_meanwhile = true;
  run(attempt, [&](auto& running) {
    gone_meanwhile = other.value()->wait_until_gone(attempt.paths().root, {std::chrono::milliseconds(30)});
    running->stop(launch::StopKind::kNow);
  });
  EXPECT_FALSE(gone_meanwhile);
  EXPECT_TRUE(other.value()->wait_until_gone(attempt.paths().root, {std::chrono::milliseconds(1000)}));
}

// Those of a job step only in an allocation, of two nodes at least: tests/slurm has one.
std::vector<std::string> usable_launchers() {
  std::vector<std::string> names = launch::launcher_names();
  if (!launch::allocation_from_environment()) std::erase(names, "srun");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registered, LauncherContract, ::testing::ValuesIn(usable_launchers()),
                         [](const auto& parameter) { return parameter.param; });

TEST(LauncherTable, HoldsOneLauncherAFileOfItsFolder) { EXPECT_EQ(launch::launcher_names(), (std::vector<std::string>{"local", "srun"})); }

TEST(LauncherTable, NamesTheKnownLaunchersWhenAskedForAnother) {
  const auto launcher = launch::make_launcher("pigeon");
  ASSERT_FALSE(launcher.ok());
  EXPECT_EQ(launcher.error().message, "no launcher is called \"pigeon\"; there are: local, srun");
}

}  // namespace
}  // namespace rematch::tests

// What only the local launcher can show: its own processes killed from outside, and the graces it gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "orchestrator/launch/attempt_lock.h"
#include "orchestrator/launch/attempt_processes.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/supervisor.h"
#include "tests/support/fake_attempt.h"

namespace rematch::tests {
namespace {

using protocol::LaunchEnd;
using std::chrono::milliseconds;

class LocalLauncher : public ::testing::Test {
 protected:
  base::Result<protocol::LaunchRecord> run(FakeAttempt& attempt, const FakeAttempt::During& during = nullptr) {
    auto result = attempt.run(*launch::make_launcher("local").value(), during);
    if (!result) throw std::runtime_error("the attempt did not end within the test's deadline");
    return *result;
  }
};

TEST_F(LocalLauncher, SeesARankThatIsKilledFromOutsideAndEndsTheOthers) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang","stage":"steady"}]})", 3);
  const auto record = run(attempt, [&](auto&) { ::kill(pid_of_rank(attempt, 2), SIGKILL); });
  EXPECT_EQ(record.value().end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.value().cause_rank, 2);
  EXPECT_EQ(record.value().ranks[2].signal, SIGKILL);
  EXPECT_FALSE(record.value().ranks[2].ended_by_supervisor);
  EXPECT_TRUE(record.value().ranks[0].ended_by_supervisor);
}

TEST_F(LocalLauncher, CallsAnAttemptInterruptedWhoseRanksHearOfTheEndOfTheirJobBeforeTheSupervisor) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang"}]})");
  const auto record = run(attempt, [&](auto&) {
    const pid_t first = pid_of_rank(attempt, 0);
    const pid_t supervisor = parent_of(first);
    ::kill(first, SIGTERM);
    ::kill(pid_of_rank(attempt, 1), SIGTERM);
    std::this_thread::sleep_for(milliseconds(30));
    ::kill(supervisor, SIGTERM);
  });
  EXPECT_EQ(record.value().end, LaunchEnd::kInterrupted);
  EXPECT_EQ(record.value().cause_rank, std::nullopt);
}

TEST_F(LocalLauncher, BlamesARankThatAloneWasToldToEnd) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang"}]})");
  const auto record = run(attempt, [&](auto&) { ::kill(pid_of_rank(attempt, 1), SIGTERM); });
  EXPECT_EQ(record.value().end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.value().cause_rank, 1);
}

TEST_F(LocalLauncher, NoticesAnExitWithoutWaitingForAnyPoll) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang"}]})", 1);
  std::int64_t killed_ns = 0;
  const auto record = run(attempt, [&](auto&) {
    killed_ns = std::chrono::steady_clock::now().time_since_epoch().count();
    ::kill(pid_of_rank(attempt, 0), SIGKILL);
  });
  const double noticed_ms = static_cast<double>(record.value().ranks[0].end_mono_ns - killed_ns) / 1e6;
  RecordProperty("noticed_ms", std::to_string(noticed_ms));
  std::cout << "end noticed after " << noticed_ms << " ms\n";
  EXPECT_GT(noticed_ms, 0);
  EXPECT_LT(noticed_ms, time_allowance(1000.0)) << "wanted within 10 ms; the bound leaves room for a busy machine";
}

TEST_F(LocalLauncher, EndsEverythingWhenTheControllerGivesTheAttemptUp) {
  FakeAttempt attempt(R"({"rules":[{"rank":0,"do":"daemon"},{"do":"hang"}]})");
  pid_t rank = 0;
  const auto launcher = launch::make_launcher("local");
  boost::asio::io_context context;
  protocol::write_file_by_rename(attempt.paths().trial(), protocol::to_json(attempt.trial()).dump());
  auto running = launcher.value()->start(context, attempt.request(), [](auto) {});
  ASSERT_TRUE(eventually([&] { return daemon_pid(attempt.paths().root, 0) != 0; }));
  rank = pid_of_rank(attempt, 0);
  running.reset();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(attempt.paths().launch()); }));
  EXPECT_EQ(protocol::read_launch_record(attempt.paths().launch().string()).end, LaunchEnd::kControllerLost);
  EXPECT_FALSE(is_alive(rank));
  EXPECT_FALSE(is_alive(daemon_pid(attempt.paths().root, 0)));
}

TEST_F(LocalLauncher, ReportsALostAttemptWhenTheSupervisorIsKilledAndItsRanksDieWithIt) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang_hard"}]})");
  pid_t rank = 0;
  const auto record = run(attempt, [&](auto&) {
    rank = pid_of_rank(attempt, 1);
    ::kill(parent_of(rank), SIGKILL);
  });
  ASSERT_FALSE(record.ok());
  EXPECT_NE(record.error().message.find("killed by signal 9"), std::string::npos) << record.error().message;
  EXPECT_TRUE(eventually([&] { return !is_alive(rank); }));
}

TEST_F(LocalLauncher, EndsWhatAKilledSupervisorLeftBeforeItReportsTheLoss) {
  FakeAttempt attempt(R"({"rules":[{"rank":1,"do":"daemon"},{"do":"hang_hard"}]})");
  pid_t rank = 0;
  pid_t daemon = 0;
  const auto record = run(attempt, [&](auto&) {
    rank = pid_of_rank(attempt, 1);
    daemon = daemon_pid(attempt.paths().root, 1);
    EXPECT_EQ(launch::attempt_processes(attempt.paths().root).size(), 4U) << "supervisor, two ranks, a grandchild in a session of its own";
    EXPECT_TRUE(launch::attempt_processes(attempt.paths().root / "other").empty());
    ::kill(parent_of(rank), SIGKILL);
  });
  ASSERT_FALSE(record.ok());
  EXPECT_TRUE(daemon != 0 && !is_alive(daemon));
  EXPECT_FALSE(is_alive(rank));
  EXPECT_TRUE(launch::attempt_processes(attempt.paths().root).empty());
}

TEST_F(LocalLauncher, BlamesARankThatLeftEarlyWithZeroWhenTheOthersGoOn) {
  FakeAttempt attempt(
      R"({"rules":[{"rank":1,"do":"exit","code":0,"stage":"first_forward"},{"rank":0,"do":"hang","stage":"first_forward"}]})");
  const auto record = run(attempt);
  EXPECT_EQ(record.value().end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.value().cause_rank, 1);
  EXPECT_TRUE(record.value().ranks[0].ended_by_supervisor);
}

TEST_F(LocalLauncher, BlamesTheRankThatGoesOnWhenTheFirstFinishedItsWork) {
  FakeAttempt attempt(R"({"rules":[{"rank":0,"do":"hang","stage":"done"}]})");
  const auto record = run(attempt);
  EXPECT_EQ(record.value().end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.value().cause_rank, 0);
  EXPECT_NE(record.value().message.find("rank 1 ended with exit code 0"), std::string::npos) << record.value().message;
}

TEST(AttemptLock, LiesOnAFileOfTheFolderAndHoldsBetweenOpenFiles) {
  const TempDir folder;
  auto lock = launch::AttemptLock::try_take(folder.path());
  ASSERT_TRUE(lock);
  const auto file = launch::FileLock::open_to_look(protocol::AttemptPaths{folder.path()}.lock());
  EXPECT_TRUE(file.is_another_s());
  lock.reset();
  EXPECT_FALSE(file.is_another_s());
  EXPECT_TRUE(std::filesystem::is_regular_file(folder.path() / "lock"));
}

TEST(AttemptLock, IsWaitedForUntilTheDeadlineOrUntilTheWaiterGivesUp) {
  const TempDir folder;
  auto lock = launch::AttemptLock::try_take(folder.path());
  EXPECT_FALSE(launch::wait_until_unsupervised(folder.path(), {milliseconds(5)}));
  int num_looks = 0;
  EXPECT_FALSE(launch::wait_until_unsupervised(folder.path(), {milliseconds(60'000), [&] { return ++num_looks < 2; }}));
  EXPECT_EQ(num_looks, 2);
  EXPECT_TRUE(launch::wait_until_unsupervised(folder.path(), {milliseconds(60'000), [&] {
                                                                lock.reset();
                                                                return true;
                                                              }}));
}

TEST(AttemptLock, ThatCannotBeKnownIsWaitedForUntilTheRecordIsThereOrTheDeadlineHasPassed) {
  using launch::LockState;
  const auto unknown = [] { return LockState::kUnknown; };
  int num_looks = 0;
  const auto shown_late = [&] { return ++num_looks == 3; };
  EXPECT_TRUE(launch::wait_until_unsupervised(unknown, shown_late, {milliseconds(60'000)}));
  EXPECT_EQ(num_looks, 3) << "not before the record is there";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(launch::wait_until_unsupervised(unknown, [] { return false; }, {milliseconds(15)}));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(15));
  const auto held = [] { return LockState::kAnothers; };
  EXPECT_FALSE(launch::wait_until_unsupervised(held, [] { return true; }, {milliseconds(5)})) << "a lock that is held says more";
  EXPECT_FALSE(launch::wait_until_unsupervised(unknown, [] { return false; }, {milliseconds(60'000), [] { return false; }}));
}

TEST(AttemptLock, IsHeldByOneAtATimeAndFreedWithItsOwner) {
  const TempDir folder;
  auto first = launch::AttemptLock::try_take(folder.path());
  ASSERT_TRUE(first);
  EXPECT_FALSE(launch::AttemptLock::try_take(folder.path()));
  first.reset();
  EXPECT_TRUE(launch::AttemptLock::try_take(folder.path()));
  EXPECT_FALSE(launch::AttemptLock::try_take(folder.path() / "missing"));
}

TEST(SuperviseCommand, ReadsBackWhatItWrote) {
  const std::vector<std::string> words = launch::supervise_command({"/bin/trainer", "/runs/a b", 7});
  std::vector<const char*> argv = {"rematch"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto arguments = launch::parse_supervise_command(static_cast<int>(argv.size()), argv.data());
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->trainer, "/bin/trainer");
  EXPECT_EQ(arguments->attempt_folder, "/runs/a b");
  EXPECT_EQ(arguments->attempt, 7);
  argv.back() = "7x";
  EXPECT_FALSE(launch::parse_supervise_command(static_cast<int>(argv.size()), argv.data()));
}

// Eight ranks in four pipeline stages, of which four stand for all.
void predict(FakeAttempt& attempt) {
  attempt.trial().parallel.pipeline_model_parallel_size = 4;
  attempt.trial().backend.device = "meta";
  attempt.trial().prediction = protocol::PredictionSpec{.device = "H100-80GB", .device_memory_bytes = 1};
}

TEST_F(LocalLauncher, StartsOfAPredictionOnlyTheRanksThatStandForOthersWithTheirTrueNumbers) {
  FakeAttempt attempt("", 8);
  predict(attempt);
  const auto record = run(attempt);
  EXPECT_EQ(record.value().end, LaunchEnd::kAllExited) << record.value().message;
  EXPECT_EQ(record.value().environment.at("WORLD_SIZE"), "8");
  std::vector<std::int64_t> ranks;
  for (const protocol::RankExit& rank : record.value().ranks) {
    ranks.push_back(rank.rank);
    EXPECT_EQ(rank.exit_code, 0);
    const auto file = protocol::read_record_file(attempt.paths().rank_record(rank.rank));
    EXPECT_EQ(std::get<protocol::HelloRecord>(file.records.front()).rank, rank.rank);
  }
  EXPECT_EQ(ranks, (std::vector<std::int64_t>{0, 2, 4, 6}));
  EXPECT_FALSE(std::filesystem::exists(attempt.paths().rank_record(1)));
}

TEST_F(LocalLauncher, RunsNoMoreRanksOfAPredictionAtATimeThanThereAreCores) {
  const std::size_t num_cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t num_ranks = num_cores + 2;
  FakeAttempt attempt(R"({"sleep_us":20000})", static_cast<std::int64_t>(num_ranks));
  predict(attempt);
  attempt.trial().parallel.pipeline_model_parallel_size = static_cast<std::int64_t>(num_ranks);
  const auto record = run(attempt);
  ASSERT_EQ(record.value().ranks.size(), num_ranks);
  for (const protocol::RankExit& rank : record.value().ranks) EXPECT_EQ(rank.exit_code, 0) << rank.rank;
  std::size_t most = 0;
  for (const protocol::RankExit& rank : record.value().ranks) {
    const auto runs_then = [&](const protocol::RankExit& other) {
      return other.start_mono_ns <= rank.start_mono_ns && rank.start_mono_ns < other.end_mono_ns;
    };
    most = std::max(most, static_cast<std::size_t>(std::count_if(record.value().ranks.begin(), record.value().ranks.end(), runs_then)));
  }
  EXPECT_LE(most, num_cores);
}

TEST_F(LocalLauncher, LetsTheOtherRanksOfAPredictionGoOnWhenOneFails) {
  FakeAttempt attempt(R"({"rules":[{"rank":2,"do":"exit","code":10,"stage":"first_forward"}]})", 8);
  predict(attempt);
  const auto record = run(attempt);
  EXPECT_EQ(record.value().end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.value().cause_rank, 2);
  for (const protocol::RankExit& rank : record.value().ranks) {
    EXPECT_EQ(rank.exit_code, rank.rank == 2 ? 10 : 0) << rank.rank;
    EXPECT_FALSE(rank.ended_by_supervisor) << rank.rank;
  }
}

TEST_F(LocalLauncher, EndsEveryRankOfAPredictionAtItsDeadlineAndStartsNoFurther) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang_hard"}]})", 8);
  predict(attempt);
  attempt.trial().parallel.pipeline_model_parallel_size = 8;
  attempt.trial().training.global_batch_size = 8;
  attempt.trial().timeout_ms = time_allowance(milliseconds(500)).count();
  attempt.trial().collective_timeout_ms = 100;
  const auto record = run(attempt);
  EXPECT_EQ(record.value().end, LaunchEnd::kTimeout);
  std::size_t num_started = 0;
  for (const protocol::RankExit& rank : record.value().ranks) {
    if (rank.pid == 0) continue;
    ++num_started;
    EXPECT_EQ(rank.signal, SIGKILL);
    EXPECT_FALSE(is_alive(static_cast<pid_t>(rank.pid)));
  }
  EXPECT_EQ(num_started, std::min<std::size_t>(8, std::max(1U, std::thread::hardware_concurrency())));
}

}  // namespace
}  // namespace rematch::tests

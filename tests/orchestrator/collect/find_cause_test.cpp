#include "orchestrator/collect/find_cause.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/orchestrator/study_builder.h"

namespace rematch::collect {
namespace {

using protocol::FailureKind;
using protocol::LaunchEnd;
using protocol::Stage;

constexpr std::int64_t kNever = 0;

// How one rank ended: its last record line, if any, and its exit.
struct Ending {
  std::optional<FailureKind> kind;  // of its error record
  std::optional<std::int64_t> failed_rank;
  std::int64_t recorded_at = 0;
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::int64_t ended_at = kNever;
  bool by_supervisor = false;
};

Ending finished() { return {.exit_code = 0, .ended_at = 50}; }
Ending failed(FailureKind kind, std::int64_t exit_code, std::int64_t at) {
  return {.kind = kind, .recorded_at = at, .exit_code = exit_code, .ended_at = at + 5};
}
Ending victim_of(std::int64_t culprit, std::int64_t at) {
  return {.kind = FailureKind::kComm, .failed_rank = culprit, .recorded_at = at, .exit_code = 12, .ended_at = at + 5};
}
Ending lost_connection(std::int64_t at) { return failed(FailureKind::kComm, 12, at); }
Ending killed(std::int64_t signal, std::int64_t at) { return {.signal = signal, .ended_at = at}; }
Ending ended_silently(std::int64_t exit_code, std::int64_t at) { return {.exit_code = exit_code, .ended_at = at}; }
Ending obeyed_supervisor(std::int64_t at) {
  return {.kind = FailureKind::kInterrupted, .recorded_at = at, .exit_code = 15, .ended_at = at + 5, .by_supervisor = true};
}
Ending killed_by_supervisor(std::int64_t at) { return {.signal = SIGKILL, .ended_at = at, .by_supervisor = true}; }
Ending survived_supervisor() { return {.by_supervisor = true}; }
Ending recorded_then_killed_by_supervisor(Ending ending, std::int64_t at) {
  ending.exit_code.reset();
  ending.signal = SIGKILL;
  ending.ended_at = at;
  ending.by_supervisor = true;
  return ending;
}

struct Case {
  std::string what;
  std::vector<Ending> ranks;
  std::int64_t rank;
  FailureKind kind;
  std::string message;  // a part of it
  LaunchEnd end = LaunchEnd::kRankFailed;
};

base::AttemptRows attempt_of(const Case& c) {
  base::AttemptRows attempt;
  attempt.trial = tests::make_trial(static_cast<std::int64_t>(c.ranks.size()));
  attempt.launch.end = c.end;
  attempt.launch.host = "node-a";
  for (std::size_t r = 0; r < c.ranks.size(); ++r) {
    const Ending& ending = c.ranks[r];
    base::RankRows rank = tests::make_rank(attempt.trial, {}, static_cast<std::int64_t>(r));
    rank.exit.rank = rank.rank;
    rank.exit.exit_code = ending.exit_code;
    rank.exit.signal = ending.signal;
    rank.exit.end_mono_ns = ending.ended_at;
    rank.exit.ended_by_supervisor = ending.by_supervisor;
    rank.record_complete = ending.exit_code == 0;
    if (ending.exit_code != 0) {
      rank.bye.reset();
      rank.stages = tests::ledger_up_to(Stage::kSteady);
      rank.steps.resize(7);
    }
    if (ending.kind) {
      protocol::ErrorRecord error;
      error.kind = *ending.kind;
      error.mono_ns = ending.recorded_at;
      error.stage = Stage::kSteady;
      error.step = 7;
      error.failed_rank = ending.failed_rank;
      error.message = "word of rank " + std::to_string(r);
      rank.errors = {error};
    }
    attempt.ranks.push_back(rank);
  }
  return attempt;
}

const std::vector<Case> kCases = {
    {"a killed rank that its peers name",
     {victim_of(2, 20), victim_of(2, 21), killed(SIGKILL, 10), obeyed_supervisor(30)},
     2,
     FailureKind::kCrashed,
     "SIGKILL"},
    {"a killed rank, with the word of its peers", {victim_of(1, 20), killed(SIGSEGV, 10)}, 1, FailureKind::kCrashed, "word of rank 0"},
    {"a killed rank whose exit was seen after its peers' records",
     {victim_of(1, 20), killed(SIGKILL, 40)},
     1,
     FailureKind::kCrashed,
     "SIGKILL"},
    {"a killed rank that nobody names",
     {lost_connection(20), lost_connection(21), killed(SIGKILL, 25)},
     2,
     FailureKind::kCrashed,
     "SIGKILL"},
    {"a killed rank, its peers told to end", {obeyed_supervisor(20), killed(SIGKILL, 10)}, 1, FailureKind::kCrashed, "SIGKILL"},
    {"a hung rank that the supervisor had to kill",
     {victim_of(3, 20), victim_of(3, 20), victim_of(3, 22), killed_by_supervisor(90)},
     3,
     FailureKind::kTimeout,
     "word of rank 0"},
    {"a hung rank that even SIGKILL did not end", {victim_of(1, 20), survived_supervisor()}, 1, FailureKind::kTimeout, "word of rank 0"},
    {"a rank stuck in its work that obeyed the supervisor",
     {victim_of(1, 20), obeyed_supervisor(40)},
     1,
     FailureKind::kTimeout,
     "word of rank 0"},
    {"the first word on a hung rank",
     {victim_of(2, 25), victim_of(2, 20), killed_by_supervisor(90)},
     2,
     FailureKind::kTimeout,
     "word of rank 1"},
    {"a hung rank that woke up and was told",
     {victim_of(1, 20), failed(FailureKind::kTimeout, 14, 60)},
     1,
     FailureKind::kTimeout,
     "word of rank 1"},
    {"a rank with a better record than its peers' word",
     {victim_of(1, 20), failed(FailureKind::kOom, 10, 19)},
     1,
     FailureKind::kOom,
     "word of rank 1"},
    {"a rank whose record came after its peers' word",
     {victim_of(1, 20), failed(FailureKind::kNumerics, 11, 30)},
     1,
     FailureKind::kNumerics,
     "word of rank 1"},
    {"a named rank that blames nobody else", {victim_of(1, 20), lost_connection(21)}, 1, FailureKind::kComm, "word of rank 1"},
    {"a named rank that ended silently", {victim_of(1, 20), ended_silently(70, 30)}, 1, FailureKind::kBadExit, "exit code 70"},
    {"the last of a chain of names",
     {victim_of(1, 20), victim_of(2, 21), killed_by_supervisor(90)},
     2,
     FailureKind::kTimeout,
     "word of rank 1"},
    {"the first of two that name each other", {victim_of(1, 21), victim_of(0, 20)}, 1, FailureKind::kComm, "word of rank 1"},
    {"a named rank before one that crashed on account of it",
     {victim_of(2, 20), killed(SIGABRT, 30), killed_by_supervisor(90)},
     2,
     FailureKind::kTimeout,
     "word of rank 0"},
    {"a crash before the words on another rank",
     {victim_of(2, 20), killed(SIGABRT, 10), killed_by_supervisor(90)},
     1,
     FailureKind::kCrashed,
     "SIGABRT"},
    {"a victim, when the named rank ended well", {victim_of(1, 20), finished()}, 0, FailureKind::kComm, "word of rank 0"},
    {"a victim, when the named rank is none of the job",
     {victim_of(9, 20), obeyed_supervisor(30)},
     0,
     FailureKind::kComm,
     "word of rank 0"},
    {"a rank ended by a signal from elsewhere",
     {victim_of(1, 20), failed(FailureKind::kInterrupted, 15, 10)},
     1,
     FailureKind::kInterrupted,
     "word of rank 1"},
    {"a rank that waited in vain and can name nobody",
     {failed(FailureKind::kTimeout, 12, 20), victim_of(0, 21)},
     0,
     FailureKind::kTimeout,
     "word of rank 0"},
    {"the first of two that failed by themselves",
     {failed(FailureKind::kOom, 10, 21), failed(FailureKind::kOom, 10, 20)},
     1,
     FailureKind::kOom,
     "word of rank 1"},
    {"the first exit where no rank left a record",
     {ended_silently(70, 21), ended_silently(70, 20)},
     1,
     FailureKind::kBadExit,
     "exit code 70"},
    {"the first that lost its connection where all did",
     {lost_connection(21), lost_connection(20)},
     1,
     FailureKind::kComm,
     "word of rank 1"},
    {"a victim that the supervisor had to kill",
     {recorded_then_killed_by_supervisor(victim_of(1, 20), 90), killed_by_supervisor(90)},
     1,
     FailureKind::kTimeout,
     "word of rank 0"},
    {"a named rank at the deadline",
     {victim_of(1, 20), killed_by_supervisor(90)},
     1,
     FailureKind::kTimeout,
     "word of rank 0",
     LaunchEnd::kTimeout},
    {"the least progress at a deadline where words name nobody",
     {lost_connection(20), killed_by_supervisor(90)},
     0,
     FailureKind::kTimeout,
     "deadline",
     LaunchEnd::kTimeout},
};

TEST(FindCause, NamesTheRankThatFailedAndNotItsVictims) {
  for (const Case& c : kCases) {
    const auto failure = find_cause(attempt_of(c), Documents::kRead);
    ASSERT_TRUE(failure) << c.what;
    EXPECT_EQ(failure->rank, c.rank) << c.what << ": " << failure->message;
    EXPECT_EQ(failure->kind, c.kind) << c.what << ": " << failure->message;
    EXPECT_NE(failure->message.find(c.message), std::string::npos) << c.what << ": " << failure->message;
    EXPECT_EQ(failure->stage, Stage::kSteady) << c.what;
    EXPECT_EQ(failure->step, 7) << c.what;
  }
}

// Whatever the order of the ranks.
TEST(FindCause, DoesNotDependOnTheCulpritsNumber) {
  for (std::int64_t culprit = 0; culprit < 4; ++culprit) {
    for (const Ending& end : {killed(SIGKILL, 10), killed_by_supervisor(90), obeyed_supervisor(40)}) {
      Case c{"", {}, culprit, FailureKind::kTimeout, ""};
      for (std::int64_t rank = 0; rank < 4; ++rank) c.ranks.push_back(rank == culprit ? end : victim_of(culprit, 20 + rank));
      const auto failure = find_cause(attempt_of(c), Documents::kRead);
      ASSERT_TRUE(failure);
      EXPECT_EQ(failure->rank, culprit);
      EXPECT_EQ(failure->kind, end.by_supervisor ? FailureKind::kTimeout : FailureKind::kCrashed);
    }
  }
}

}  // namespace
}  // namespace rematch::collect

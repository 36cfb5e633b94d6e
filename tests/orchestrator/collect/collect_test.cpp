#include "orchestrator/collect/collect.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "tests/orchestrator/attempt_files.h"
#include "tests/orchestrator/collect/collect_fixture.h"

namespace rematch::collect {
namespace {

using base::AttemptRows;
using base::RankRows;
using protocol::FailureKind;
using protocol::LaunchEnd;
using protocol::Phase;
using protocol::Stage;

TEST_F(Collect, ReadsACompleteAttemptWithoutFailure) {
  const AttemptRows rows = collected(clean());
  EXPECT_EQ(rows.attempt, 1);
  EXPECT_EQ(rows.study_id, "00000000000005ed");
  ASSERT_EQ(rows.ranks.size(), 2U);
  EXPECT_TRUE(rows.ranks[1].record_complete);
  EXPECT_EQ(rows.ranks[1].steps.size(), 20U);
  EXPECT_EQ(rows.ranks[1].hello->host, "node-a");
  EXPECT_EQ(rows.ranks[1].exit.pid, 4001);
  EXPECT_FALSE(rows.failure);
}

TEST_F(Collect, TakesTheNumberOfTheAttemptFromItsFolder) {
  AttemptRows attempt = clean();
  attempt.attempt = 12;
  EXPECT_EQ(collected(attempt).attempt, 12);
}

TEST_F(Collect, PlacesAnOutOfMemoryWithItsBytes) {
  const AttemptRows rows = collected(builder_.run_out_of_memory("[]", Stage::kFirstBackward, Phase::kBackward, 0));
  ASSERT_TRUE(rows.failure);
  EXPECT_EQ(rows.failure->kind, FailureKind::kOom);
  EXPECT_EQ(rows.failure->stage, Stage::kFirstBackward);
  EXPECT_EQ(rows.failure->step, 0);
  EXPECT_EQ(rows.failure->phase, Phase::kBackward);
  EXPECT_EQ(rows.failure->rank, 0);
  EXPECT_EQ(rows.failure->host, "node-a");
  EXPECT_EQ(rows.failure->requested_bytes, 64 * tests::kMegabyte);
  EXPECT_EQ(rows.failure->capacity_bytes, 1000 * tests::kMegabyte);
}

TEST_F(Collect, CallsTheRankThatFailedFirstTheCause) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  end_by(attempt.ranks[0], 70, std::nullopt, 9000);
  end_by(attempt.ranks[1], std::nullopt, SIGSEGV, 8000);
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->rank, 1);
  EXPECT_EQ(rows.failure->kind, FailureKind::kCrashed);
  EXPECT_EQ(rows.failure->message, "ended by SIGSEGV");
}

TEST_F(Collect, CallsPeersThatLostTheirConnectionVictimsEvenWhenTheyEndedFirst) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  attempt.launch.cause_rank = 0;
  attempt.ranks[0].errors.push_back(error_of(FailureKind::kComm, 7000));
  end_by(attempt.ranks[0], 12, std::nullopt, 7000);
  end_by(attempt.ranks[1], std::nullopt, SIGABRT, 8000);
  EXPECT_EQ(collected(attempt).failure->rank, 1);
}

TEST_F(Collect, BlamesTheFirstRankWhenAllFailuresAreOfCommunication) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  end_by(attempt.ranks[0], 12, std::nullopt, 9000);
  end_by(attempt.ranks[1], 12, std::nullopt, 8000);
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kComm);
  EXPECT_EQ(rows.failure->rank, 1);
}

TEST_F(Collect, NeverBlamesARankThatTheSupervisorEnded) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  end_by(attempt.ranks[0], std::nullopt, SIGKILL, 5000);
  attempt.ranks[0].exit.ended_by_supervisor = true;
  end_by(attempt.ranks[1], 11, std::nullopt, 8000);
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->rank, 1);
  EXPECT_EQ(rows.failure->kind, FailureKind::kNumerics);
}

TEST_F(Collect, BlamesARankThatRecordedItsFailureThoughTheSupervisorHadToEndIt) {
  AttemptRows attempt = builder_.run_out_of_memory("[]", Stage::kSteady, Phase::kForward, 5);
  attempt.ranks[0].exit.ended_by_supervisor = true;
  attempt.ranks[0].exit.exit_code.reset();
  attempt.ranks[0].exit.signal = SIGKILL;
  end_by(attempt.ranks[1], 12, std::nullopt, 100);
  attempt.ranks[1].exit.ended_by_supervisor = false;
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->rank, 0);
  EXPECT_EQ(rows.failure->kind, FailureKind::kOom);
}

TEST_F(Collect, CallsAKillFromElsewhereCrashedAndSaysThatThereIsNoEvidenceOfTheKernel) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  end_by(attempt.ranks[1], std::nullopt, SIGKILL, 5000);
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kCrashed);
  EXPECT_NE(rows.failure->message.find("SIGKILL"), std::string::npos);
}

TEST_F(Collect, MapsEachExitCodeOfTheTrainer) {
  const std::vector<std::pair<int, FailureKind>> cases = {
      {10, FailureKind::kOom},     {11, FailureKind::kNumerics},    {12, FailureKind::kComm},    {13, FailureKind::kBadExit},
      {14, FailureKind::kTimeout}, {15, FailureKind::kInterrupted}, {70, FailureKind::kBadExit}, {1, FailureKind::kBadExit}};
  for (const auto& [code, kind] : cases) {
    tests::StudyBuilder builder("codes");
    AttemptRows attempt = builder.run("[]");
    attempt.trial.trial_id = tests::hex_id(code);
    for (RankRows& rank : attempt.ranks) rank.hello->trial_id = attempt.trial.trial_id;
    attempt.launch.end = LaunchEnd::kRankFailed;
    end_by(attempt.ranks[0], code, std::nullopt, 5000);
    EXPECT_EQ(collected(attempt).failure->kind, kind) << code;
  }
}

TEST_F(Collect, CallsAnExitWithoutTheLastRecordLineABadExit) {
  AttemptRows attempt = clean();
  stop_in(attempt.ranks[1], Stage::kSteady, 7);
  const AttemptRows rows = collected(attempt);
  ASSERT_TRUE(rows.failure);
  EXPECT_EQ(rows.failure->kind, FailureKind::kBadExit);
  EXPECT_EQ(rows.failure->rank, 1);
  EXPECT_EQ(rows.failure->stage, Stage::kSteady);
  EXPECT_EQ(rows.failure->step, 7);
  EXPECT_FALSE(rows.failure->phase);
}

TEST_F(Collect, BlamesATimeoutOnTheRankWithTheLeastProgress) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kTimeout;
  for (RankRows& rank : attempt.ranks) {
    end_by(rank, std::nullopt, SIGKILL, 5000);
    rank.exit.ended_by_supervisor = true;
  }
  stop_in(attempt.ranks[0], Stage::kSteady, 9);
  stop_in(attempt.ranks[1], Stage::kSteady, 8);
  const AttemptRows by_step = collected(attempt);
  EXPECT_EQ(by_step.failure->kind, FailureKind::kTimeout);
  EXPECT_EQ(by_step.failure->rank, 1);
  EXPECT_EQ(by_step.failure->step, 8);
  EXPECT_NE(by_step.failure->message.find("20.0 s"), std::string::npos);
}

TEST_F(Collect, BlamesATimeoutByStageAndThenByTheOldestRecord) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kTimeout;
  for (RankRows& rank : attempt.ranks) {
    end_by(rank, std::nullopt, SIGKILL, 5000);
    rank.exit.ended_by_supervisor = true;
  }
  stop_in(attempt.ranks[0], Stage::kFirstBackward, 0);
  stop_in(attempt.ranks[1], Stage::kFirstForward, 0);
  EXPECT_EQ(collected(attempt).failure->rank, 1);
  std::filesystem::remove_all(folder_);
  stop_in(attempt.ranks[0], Stage::kFirstForward, 0);
  attempt.ranks[1].stages.back().mono_ns += 500;
  EXPECT_EQ(collected(attempt).failure->rank, 0);
}

TEST_F(Collect, BlamesATimeoutOnTheRankThatDidNotAnswerWhenItWasToldToEnd) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kTimeout;
  for (RankRows& rank : attempt.ranks) {
    stop_in(rank, Stage::kSteady, 5);
    rank.exit.ended_by_supervisor = true;
  }
  // Both completed as many steps; rank 0's last step ended first, but rank 0 still lived to say where it waited.
  end_by(attempt.ranks[0], 15, std::nullopt, 5000);
  attempt.ranks[0].errors = {error_of(FailureKind::kInterrupted, 4000)};
  end_by(attempt.ranks[1], std::nullopt, SIGKILL, 5000);
  attempt.ranks[1].steps.back().start_mono_ns += 500;
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kTimeout);
  EXPECT_EQ(rows.failure->rank, 1);
}

TEST_F(Collect, CallsARankThatWentOnAfterItsPeersATimeoutThoughItAnsweredWhenItWasToldToEnd) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  stop_in(attempt.ranks[1], Stage::kSteady, 5);
  attempt.ranks[1].exit.ended_by_supervisor = true;
  end_by(attempt.ranks[1], 15, std::nullopt, 5000);
  attempt.ranks[1].errors = {error_of(FailureKind::kInterrupted, 4000)};
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kTimeout);
  EXPECT_EQ(rows.failure->rank, 1);
}

TEST_F(Collect, LetsADeadlineNotHideARecordedFailure) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kTimeout;
  for (RankRows& rank : attempt.ranks) {
    stop_in(rank, Stage::kSteady, 5);
    rank.exit.ended_by_supervisor = true;
    end_by(rank, std::nullopt, SIGKILL, 5000);
  }
  attempt.ranks[0].errors = {error_of(FailureKind::kComm, 1000)};
  attempt.ranks[1].errors = {error_of(FailureKind::kNumerics, 2000)};
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kNumerics);
  EXPECT_EQ(rows.failure->rank, 1);
}

TEST_F(Collect, ReadsAnAttemptThatWasSetAsideAsPreemptedHoweverItEnded) {
  ASSERT_FALSE(collected(clean()).failure);
  std::ofstream(protocol::AttemptPaths{folder_}.superseded()) << "{}";
  const AttemptRows well = collect_again();
  ASSERT_TRUE(well.failure);
  EXPECT_EQ(well.failure->kind, FailureKind::kPreempted);
  EXPECT_NE(well.failure->message.find("it ended well"), std::string::npos) << well.failure->message;

  AttemptRows crashed = clean();
  crashed.trial.trial_id = "00000000000000cd";
  crashed.launch.end = LaunchEnd::kRankFailed;
  end_by(crashed.ranks[1], std::nullopt, SIGTERM, 500);
  ASSERT_EQ(collected(crashed).failure->kind, FailureKind::kCrashed);
  std::ofstream(protocol::AttemptPaths{folder_}.superseded()) << "{}";
  const AttemptRows set_aside = collect_again();
  EXPECT_EQ(set_aside.failure->kind, FailureKind::kPreempted);
  EXPECT_EQ(set_aside.failure->rank, 1);
  EXPECT_NE(set_aside.failure->message.find("it ended as crashed: ended by SIGTERM"), std::string::npos) << set_aside.failure->message;
}

TEST_F(Collect, TakesTheNodeThatFailedFirstForTheCauseHoweverItsClockStands) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kRankFailed;
  attempt.launch.cause_rank = 1;
  attempt.launch.nodes = {{"n1", "node-a", std::nullopt, std::nullopt}, {"n2", "node-b", std::nullopt, std::nullopt}};
  attempt.ranks[1].exit.node = 1;
  attempt.ranks[0].errors = {error_of(FailureKind::kNumerics, 1000)};
  attempt.ranks[1].errors = {error_of(FailureKind::kNumerics, 2000)};
  EXPECT_EQ(collected(attempt).failure->rank, 1);
}

TEST_F(Collect, PlacesALostNodeAtARankThatWasNeverHeardOf) {
  AttemptRows attempt = clean();
  attempt.launch.end = LaunchEnd::kNodeFailed;
  attempt.launch.message = "Node failure on n2";
  attempt.ranks[0].errors = {error_of(FailureKind::kComm, 1000)};
  attempt.ranks[1].exit = {.rank = 1, .node = 1};
  const AttemptRows rows = collected(attempt);
  EXPECT_EQ(rows.failure->kind, FailureKind::kNodeFail);
  EXPECT_EQ(rows.failure->rank, 1);
}

TEST_F(Collect, CallsAnAttemptWithoutLaunchRecordLost) {
  collected(clean());
  std::filesystem::remove(protocol::AttemptPaths{folder_}.launch());
  const AttemptRows rows = collect_again();
  EXPECT_EQ(rows.failure->kind, FailureKind::kLost);
  EXPECT_EQ(rows.failure->message.find('/'), std::string::npos)
      << "the rows would change with the workspace's place: " << rows.failure->message;
  EXPECT_EQ(rows.ranks[0].steps.size(), 20U);
}

TEST_F(Collect, KeepsTheSupervisorsWordForInterruptedLostAndFailedLaunches) {
  const std::vector<std::pair<LaunchEnd, FailureKind>> cases = {{LaunchEnd::kInterrupted, FailureKind::kInterrupted},
                                                                {LaunchEnd::kControllerLost, FailureKind::kLost},
                                                                {LaunchEnd::kLaunchFailed, FailureKind::kLaunch},
                                                                {LaunchEnd::kNodeFailed, FailureKind::kNodeFail}};
  for (const auto& [end, kind] : cases) {
    tests::StudyBuilder builder("ends");
    AttemptRows attempt = builder.run("[]");
    attempt.launch.end = end;
    attempt.launch.message = "why";
    attempt.attempt = static_cast<std::int64_t>(end) + 1;
    const AttemptRows rows = collected(attempt);
    EXPECT_EQ(rows.failure->kind, kind);
    EXPECT_EQ(rows.failure->message, "why");
  }
}

}  // namespace
}  // namespace rematch::collect

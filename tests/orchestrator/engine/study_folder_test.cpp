#include "orchestrator/engine/study_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "orchestrator/launch/this_host.h"
#include "schemas/protocol/record_file.h"
#include "tests/support/make_trial.h"
#include "tests/support/temp_dir.h"

namespace rematch::engine {
namespace {

namespace fs = std::filesystem;

class StudyFolderTest : public ::testing::Test {
 protected:
  tests::TempDir workspace_;
  StudyFolder folder_{workspace_.path()};
  protocol::Trial trial_ = tests::make_trial();
};

TEST_F(StudyFolderTest, NumbersAttemptsFromOneAndGivesEachItsTrialDocument) {
  EXPECT_TRUE(folder_.attempts(trial_.trial_id).empty());
  const AttemptOnDisk first = folder_.begin_attempt(trial_);
  const AttemptOnDisk second = folder_.begin_attempt(trial_);
  EXPECT_EQ(first.attempt, 1);
  EXPECT_EQ(second.attempt, 2);
  EXPECT_EQ(protocol::read_trial(protocol::AttemptPaths{second.folder}.trial().string()).trial_id, trial_.trial_id);
  EXPECT_EQ(folder_.attempts(trial_.trial_id).size(), 2U);
}

TEST_F(StudyFolderTest, CountsTheTenthAttemptAfterTheNinth) {
  const fs::path trial_folder = protocol::StudyPaths{workspace_.path()}.trial(trial_.trial_id);
  for (const std::int64_t attempt : {9, 10}) fs::create_directories(protocol::attempt_paths(trial_folder, attempt).root);
  EXPECT_EQ(folder_.begin_attempt(trial_).attempt, 11);
}

TEST_F(StudyFolderTest, TakesATrialForDoneOnlyOnceOneOfItsAttemptsIsMarked) {
  const AttemptOnDisk first = folder_.begin_attempt(trial_);
  EXPECT_FALSE(folder_.is_done(trial_.trial_id));
  folder_.begin_attempt(trial_);
  folder_.mark_done(first, trial_.trial_id);
  EXPECT_TRUE(folder_.is_done(trial_.trial_id));
}

TEST_F(StudyFolderTest, DoesNotBelieveADoneRecordOfAnotherTrial) {
  const AttemptOnDisk attempt = folder_.begin_attempt(trial_);
  folder_.mark_done(attempt, "00000000000000ff");
  EXPECT_FALSE(folder_.is_done(trial_.trial_id));
}

TEST_F(StudyFolderTest, IgnoresAnAttemptThatWasBeingPreparedWhenTheControllerDied) {
  const AttemptOnDisk first = folder_.begin_attempt(trial_);
  fs::create_directories(first.folder.parent_path() / "attempt-2.new");
  EXPECT_EQ(folder_.attempts(trial_.trial_id).size(), 1U);
  EXPECT_EQ(folder_.begin_attempt(trial_).attempt, 2);
}

TEST_F(StudyFolderTest, GivesProcessesThatBeginAtOnceANumberEach) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 10;
  for (int i = 0; i < kProcesses; ++i)
    if (::fork() == 0) {
      for (int n = 0; n < kEach; ++n) folder_.begin_attempt(trial_);
      ::_exit(0);
    }
  for (int i = 0; i < kProcesses; ++i) {
    int status = 0;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  const auto attempts = folder_.attempts(trial_.trial_id);
  ASSERT_EQ(attempts.size(), static_cast<std::size_t>(kProcesses * kEach));
  EXPECT_EQ(attempts.back().attempt, kProcesses * kEach);
  for (const AttemptOnDisk& attempt : attempts) EXPECT_TRUE(fs::exists(protocol::AttemptPaths{attempt.folder}.trial()));
}

TEST_F(StudyFolderTest, RemovesWhatADeadProcessOfThisHostHadPreparedAndNothingElse) {
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ::waitpid(dead, nullptr, 0);
  const fs::path trial_folder = folder_.begin_attempt(trial_).folder.parent_path();
  const auto prepared = [&](const std::string& host, pid_t pid) {
    const fs::path folder = trial_folder / ("attempt-2.new-" + host + "-" + std::to_string(pid));
    fs::create_directories(folder);
    return folder;
  };
  const fs::path of_dead = prepared(launch::host_name(), dead);
  const fs::path of_living = prepared(launch::host_name(), ::getppid());
  const fs::path elsewhere = prepared("another-host", dead);
  EXPECT_EQ(folder_.begin_attempt(trial_).attempt, 2);
  EXPECT_FALSE(fs::exists(of_dead));
  EXPECT_TRUE(fs::exists(of_living));
  EXPECT_TRUE(fs::exists(elsewhere));
}

TEST_F(StudyFolderTest, ASupersededAttemptIsNotDoneAndStays) {
  const AttemptOnDisk first = folder_.begin_attempt(trial_);
  folder_.mark_done(first, trial_.trial_id);
  folder_.supersede(folder_.attempts(trial_.trial_id).front(), trial_.trial_id);
  EXPECT_FALSE(folder_.is_done(trial_.trial_id));
  EXPECT_TRUE(fs::exists(protocol::AttemptPaths{first.folder}.superseded()));
  EXPECT_FALSE(fs::exists(protocol::AttemptPaths{first.folder}.done()));
  const AttemptOnDisk second = folder_.begin_attempt(trial_);
  folder_.supersede(second, trial_.trial_id);
  EXPECT_TRUE(fs::exists(protocol::AttemptPaths{second.folder}.superseded())) << "one that was never done";
  folder_.mark_done(second, trial_.trial_id);
  EXPECT_FALSE(folder_.is_done(trial_.trial_id)) << "two runs marked it, and the trial is run again";
}

TEST_F(StudyFolderTest, CountsTheDoneTrialsOfAPlan) {
  base::StudyPlan plan;
  plan.trials = {trial_, trial_};
  plan.trials[1].trial_id = "00000000000000cc";
  EXPECT_EQ(folder_.num_done(plan), 0);
  folder_.mark_done(folder_.begin_attempt(plan.trials[1]), plan.trials[1].trial_id);
  EXPECT_EQ(folder_.num_done(plan), 1);
}

}  // namespace
}  // namespace rematch::engine

#include "orchestrator/engine/repeat_block.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "schemas/protocol/record_file.h"
#include "tests/support/make_trial.h"
#include "tests/support/temp_dir.h"

namespace rematch::engine {
namespace {

constexpr const char* kOwn = "000000000000000a";
constexpr const char* kOther = "000000000000000b";

class RepeatBlockTest : public ::testing::Test {
 protected:
  RepeatBlockTest() {
    for (const std::int64_t block : {0, 1})
      for (int slot = 0; slot < 3; ++slot) {
        protocol::Trial trial = tests::make_trial();
        trial.block = block;
        trial.slot = slot;
        trial.trial_id = "00000000000000" + std::to_string(block) + std::to_string(slot);
        plan_.trials.push_back(trial);
      }
  }
  // `runner` null: outside of an allocation.
  void finish(std::size_t index, const char* runner) {
    const protocol::Trial& trial = plan_.trials[index];
    const AttemptOnDisk attempt = folder_.begin_attempt(trial);
    protocol::LaunchRecord launch;
    launch.trial_id = trial.trial_id;
    if (runner != nullptr) launch.allocation = protocol::Allocation{.job_id = 5, .runner = runner};
    protocol::write_file_by_rename(protocol::AttemptPaths{attempt.folder}.launch(), protocol::to_json(launch).dump());
    folder_.mark_done(attempt, trial.trial_id);
  }
  std::vector<SupersededAttempt> supersede(const protocol::SubmissionTask& task = {}) {
    return supersede_half_done_blocks(plan_, task, folder_, kOwn);
  }

  tests::TempDir workspace_;
  StudyFolder folder_{workspace_.path()};
  base::StudyPlan plan_;
};

TEST_F(RepeatBlockTest, SetsAsideWhatAnotherRunnerDidOfABlockThatItDidNotFinish) {
  for (const std::size_t index : {0, 1, 2}) finish(index, kOther);  // block 0 is complete
  finish(3, kOther);
  finish(4, kOwn);
  const auto superseded = supersede();
  ASSERT_EQ(superseded.size(), 2U) << "all of block 1, whoever did it";
  EXPECT_EQ(superseded[0].trial.trial_id, plan_.trials[3].trial_id);
  EXPECT_FALSE(superseded[0].attempt.is_done);
  EXPECT_FALSE(folder_.is_done(plan_.trials[3].trial_id));
  EXPECT_TRUE(std::filesystem::exists(protocol::AttemptPaths{superseded[0].attempt.folder}.superseded()));
  EXPECT_EQ(folder_.num_done(plan_), 3);
  EXPECT_EQ(folder_.begin_attempt(plan_.trials[3]).attempt, 2);
  EXPECT_TRUE(supersede().empty()) << "nothing of it is done any more";
}

TEST_F(RepeatBlockTest, GoesOnWithABlockOfItsOwn) {
  finish(0, kOwn);
  EXPECT_TRUE(supersede().empty());
  EXPECT_TRUE(folder_.is_done(plan_.trials[0].trial_id));
}

TEST_F(RepeatBlockTest, TakesARunOutsideOfAllocationsForAnother) {
  finish(0, nullptr);
  EXPECT_EQ(supersede().size(), 1U);
}

TEST_F(RepeatBlockTest, LeavesOtherPartsAndPartsOfOneTrialAlone) {
  finish(0, kOther);
  EXPECT_TRUE(supersede({1, std::nullopt}).empty());
  EXPECT_TRUE(supersede({std::nullopt, plan_.trials[1].trial_id}).empty());
  EXPECT_EQ(supersede({0, std::nullopt}).size(), 1U);
}

TEST_F(RepeatBlockTest, KnowsBlocksOfTwoGroupsApart) {
  for (const std::size_t index : {2, 5}) plan_.trials[index].group_id = "00000000000000ff";
  for (const std::size_t index : {0, 1}) finish(index, kOther);
  EXPECT_TRUE(supersede().empty()) << "of its group block 0 is complete";
}

}  // namespace
}  // namespace rematch::engine

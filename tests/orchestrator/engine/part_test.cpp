#include "orchestrator/engine/part.h"

#include <gtest/gtest.h>

#include "orchestrator/engine/block_time.h"
#include "tests/support/make_trial.h"

namespace rematch::engine {
namespace {

base::StudyPlan two_blocks_of_two() {
  base::StudyPlan plan;
  plan.study_id = "00000000000000aa";
  for (const std::int64_t block : {0, 1})
    for (const std::string arm : {"[]", "moe"}) {
      protocol::Trial trial = tests::make_trial();
      trial.block = block;
      trial.arm = arm;
      trial.trial_id = "000000000000000" + std::to_string(plan.trials.size());
      plan.trials.push_back(trial);
    }
  plan.num_blocks = 2;
  return plan;
}

TEST(Part, TheWholeStudyIsNeitherABlockNorATrial) {
  const base::StudyPlan plan = two_blocks_of_two();
  EXPECT_TRUE(is_whole({}));
  EXPECT_FALSE(is_whole({1, std::nullopt}));
  EXPECT_FALSE(is_whole({std::nullopt, plan.trials[0].trial_id}));
  for (const protocol::Trial& trial : plan.trials) {
    EXPECT_TRUE(is_of_part({}, trial));
    EXPECT_EQ(is_of_part({1, std::nullopt}, trial), trial.block == 1);
    EXPECT_EQ(is_of_part({std::nullopt, plan.trials[0].trial_id}, trial), trial.trial_id == plan.trials[0].trial_id);
  }
}

TEST(Part, OneThatThePlanDoesNotHaveIsRefusedByName) {
  const base::StudyPlan plan = two_blocks_of_two();
  EXPECT_FALSE(refuse_part(plan, {1, std::nullopt}));
  const auto refused = refuse_part(plan, {2, std::nullopt});
  ASSERT_TRUE(refused);
  EXPECT_NE(refused->message.find("has no block-2: its plan has 4 trials in 2 blocks"), std::string::npos) << refused->message;
  EXPECT_TRUE(refuse_part(plan, {1, plan.trials[0].trial_id})) << "a block and a trial";
}

TEST(Part, PartsOverlapWhereOneHasATrialOfTheOther) {
  const base::StudyPlan plan = two_blocks_of_two();
  const std::string of_block_1 = protocol::scope_of({std::nullopt, plan.trials[2].trial_id});
  EXPECT_TRUE(shares_trials(plan, {}, "study"));
  EXPECT_TRUE(shares_trials(plan, {}, "block-1"));
  EXPECT_TRUE(shares_trials(plan, {}, of_block_1));
  EXPECT_TRUE(shares_trials(plan, {1, std::nullopt}, "study"));
  EXPECT_TRUE(shares_trials(plan, {1, std::nullopt}, of_block_1));
  EXPECT_FALSE(shares_trials(plan, {0, std::nullopt}, "block-1"));
  EXPECT_FALSE(shares_trials(plan, {0, std::nullopt}, of_block_1));
  EXPECT_TRUE(shares_trials(plan, {std::nullopt, plan.trials[2].trial_id}, "block-1"));
  EXPECT_FALSE(shares_trials(plan, {std::nullopt, plan.trials[2].trial_id}, "block-0"));
}

TEST(BlockTime, IsTheSumOverItsArmsOfTheLongestThatEachTook) {
  const base::StudyPlan plan = two_blocks_of_two();
  const std::vector<const protocol::Trial*> block = {&plan.trials[2], &plan.trials[3]};
  BlockTime time;
  EXPECT_FALSE(time.expected(block)) << "nothing has run";
  time.trial_took("[]", 30);
  EXPECT_EQ(time.expected(block), 60) << "of moe nothing is known: as long as the longest";
  time.trial_took("moe", 10);
  time.trial_took("[]", 20);
  EXPECT_EQ(time.expected(block), 40);
  base::AttemptRows attempt;
  attempt.trial.arm = "moe";
  attempt.launch.start_unix_ns = 1'000'000'000;
  attempt.launch.end_unix_ns = 13'000'000'000;
  time.ended(attempt);
  EXPECT_EQ(time.expected(block), 42);
}

}  // namespace
}  // namespace rematch::engine

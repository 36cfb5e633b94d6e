#include "orchestrator/slurm/parts.h"

#include "tests/orchestrator/slurm/cluster_fixture.h"

namespace rematch::slurm {
namespace {

class PartsTest : public tests::ClusterFixture {};

TEST_F(PartsTest, ABlockOfOneGroupIsProgressThoughOthersHaveNotBegunTheirs) {
  for (protocol::Trial trial : std::vector<protocol::Trial>(plan_.trials)) {
    trial.group_id = "g2";
    trial.trial_id[0] = 'f';
    plan_.trials.push_back(trial);
  }
  folder_.write_plan(plan_);
  DoneTrials trials(plan_, folder_);
  EXPECT_FALSE(trials.has_block_since({}, 0));
  finish(plan_.trials[0]);
  EXPECT_FALSE(trials.has_block_since({}, 0)) << "half a block";
  finish(plan_.trials[1]);
  EXPECT_TRUE(trials.has_block_since({}, 0));
}

TEST_F(PartsTest, APartThatThePlanKnowsNothingOfIsNotDone) {
  finish_all();
  EXPECT_TRUE(trials_.is_done({1, std::nullopt}));
  EXPECT_FALSE(trials_.is_done({5, std::nullopt}));
}

TEST_F(PartsTest, APlanThatCouldNotBeReadIsReadAgainThoughItHasNotChanged) {
  plan_.blocks_auto = true;
  folder_.write_plan(plan_);
  DoneTrials trials(plan_, folder_);
  base::StudyPlan grown = plan_;
  grown.trials.push_back(plan_.trials.front());
  grown.trials.back().trial_id[0] = 'f';
  grown.trials.back().block = 2;
  grown.num_blocks = 3;
  folder_.write_plan(grown);
  const auto path = protocol::StudyPaths{root_}.plan();
  const auto time = std::filesystem::last_write_time(path) + std::chrono::seconds(1);
  const std::string text = protocol::read_whole_file(path).value();
  const auto put = [&](const std::string& content) {
    protocol::write_file_unsynced(path, content);
    std::filesystem::last_write_time(path, time);
    trials.read_plan_again();
  };
  put("{");
  EXPECT_EQ(trials.num_planned(), 4);
  put(text);
  EXPECT_EQ(trials.num_planned(), 5);
}

}  // namespace
}  // namespace rematch::slurm

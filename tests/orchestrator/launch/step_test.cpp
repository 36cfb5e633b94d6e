// What a job step is made of: its command, each node's share of the ranks, the notices, and the record that is made of its parts.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/launch/merge_parts.h"
#include "orchestrator/launch/node_notice.h"
#include "orchestrator/launch/node_parts.h"
#include "orchestrator/launch/rank_environment.h"
#include "orchestrator/launch/rank_share.h"
#include "orchestrator/launch/step_command.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"
#include "tests/support/make_trial.h"
#include "tests/support/temp_dir.h"

namespace rematch::launch {
namespace {

using protocol::LaunchEnd;
using protocol::LaunchRecord;
using tests::make_trial;

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

TEST(RankShare, GivesEachNodeItsRanksInOrder) {
  const protocol::Trial trial = make_trial(6);
  EXPECT_EQ(ranks_of_share(trial, {}), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(ranks_of_share(trial, {0, 3, "a"}), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(ranks_of_share(trial, {2, 3, "a"}), (std::vector<std::int64_t>{4, 5}));
}

TEST(RankShare, SetsTheVariablesOfTheNode) {
  const auto shared = shared_environment(make_trial(6), {2, 3, "10.0.0.1"}, 29'500);
  EXPECT_EQ(shared.at("WORLD_SIZE"), "6");
  EXPECT_EQ(shared.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(shared.at("MASTER_ADDR"), "10.0.0.1");
  EXPECT_EQ(shared.at("MASTER_PORT"), "29500");
  const auto own = rank_environment(shared, 5, 1);
  EXPECT_EQ(own.at("RANK"), "5");
  EXPECT_EQ(own.at("LOCAL_RANK"), "1");
}

TEST(RankShare, RefusesNodesThatDoNotDivideTheRanksAndPredictionsOnSeveral) {
  EXPECT_FALSE(refuse_layout(make_trial(4), 2));
  EXPECT_EQ(refuse_layout(make_trial(4), 3)->message,
            "wanted as many ranks on each node, found 4 ranks for 3 nodes; choose a number of nodes that divides them");
  protocol::Trial prediction = make_trial(4);
  prediction.prediction = protocol::PredictionSpec{.device = "H100-80GB", .device_memory_bytes = 1};
  EXPECT_FALSE(refuse_layout(prediction, 1));
  EXPECT_NE(refuse_layout(prediction, 2)->message.find("prediction"), std::string::npos);
}

TEST(RankShare, IsReadFromTheVariablesOfAStepAndNamesTheOneThatIsMissing) {
  const Variable node("SLURM_NODEID", "1");
  const Variable address("SLURM_LAUNCH_NODE_IPADDR", "10.0.0.1");
  {
    const Variable nodes("SLURM_STEP_NUM_NODES", "2");
    const auto share = share_of_step();
    ASSERT_TRUE(share);
    EXPECT_EQ(share.value().node, 1);
    EXPECT_EQ(share.value().num_nodes, 2);
    EXPECT_EQ(share.value().master_address, "10.0.0.1");
  }
  EXPECT_NE(share_of_step().error().message.find("SLURM_STEP_NUM_NODES"), std::string::npos);
}

TEST(RankShare, RefusesFewerDevicesThanRanksOfANode) {
  protocol::Trial trial = make_trial(4);
  trial.backend.device = "cuda";
  const protocol::LaunchNode node{"n2", "host", "4,5", std::nullopt};
  EXPECT_FALSE(refuse_devices(trial, node, 2));
  EXPECT_FALSE(refuse_devices(trial, {"n2", "host", std::nullopt, std::nullopt}, 4)) << "not set: all devices of the node";
  EXPECT_EQ(
      refuse_devices(trial, node, 4)->message,
      "wanted a device for each of the 4 ranks on node n2, found 2 in CUDA_VISIBLE_DEVICES=\"4,5\"; ask for as many devices a node as it "
      "has ranks");
  EXPECT_NE(refuse_devices(trial, {"n2", "host", "", std::nullopt}, 1)->message.find("found 0"), std::string::npos);
  trial.backend.device = "cpu";
  EXPECT_FALSE(refuse_devices(trial, node, 4));
}

bool holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(StepCommand, StartsOneSupervisorANodeWithAllOfTheNode) {
  LaunchRequest request;
  request.trial = make_trial(4);
  request.step.num_nodes = 2;
  const auto words = step_arguments(request, {8, 4}, "/opt/rematch", {"/opt/train", "/w/attempt-1", 1, 29'500});
  for (const char* word : {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=8", "--mem=0", "--input=all", "--no-kill"})
    EXPECT_TRUE(holds(words, word)) << word;
  EXPECT_FALSE(holds(words, "--gres=gpu:4")) << "a trial on the CPU wants no GPUs";
  const std::vector<std::string> end(words.end() - 6, words.end());
  EXPECT_EQ(end, (std::vector<std::string>{"/opt/rematch", "supervise", "/opt/train", "/w/attempt-1", "1", "29500"}));
}

TEST(StepCommand, LetsGivenOptionsOutrankItsOwn) {
  LaunchRequest request;
  request.trial = make_trial(4);
  request.trial.backend.device = "cuda";
  EXPECT_TRUE(holds(step_arguments(request, {8, 4}, "r", {}), "--gres=gpu:4"));
  request.step.options = {{"mem", "4G"}, {"gpus-per-node", "2"}, {"mpi", "none"}, {"overlap", ""}};
  const auto words = step_arguments(request, {8, 4}, "r", {});
  for (const char* word : {"--mem=4G", "--gpus-per-node=2", "--mpi=none", "--overlap"}) EXPECT_TRUE(holds(words, word)) << word;
  EXPECT_FALSE(holds(words, "--mem=0"));
  EXPECT_FALSE(holds(words, "--gres=gpu:4"));
}

TEST(StepCommand, TakesTheLeastOfTheNodesCores) {
  EXPECT_EQ(least_cpus("8(x2)"), 8);
  EXPECT_EQ(least_cpus("16,8(x3),32"), 8);
  EXPECT_EQ(least_cpus(""), std::nullopt);
  EXPECT_EQ(least_cpus("many"), std::nullopt);
}

TEST(NodeNotice, ReadsBackWhatItWroteAndNothingElse) {
  for (const auto what : {NodeNotice::What::kStarted, NodeNotice::What::kFailed, NodeNotice::What::kDone}) {
    std::string line = notice_line({what, 12});
    ASSERT_EQ(line.back(), '\n');
    line.pop_back();
    const auto notice = parse_notice_line(line);
    ASSERT_TRUE(notice) << line;
    EXPECT_EQ(notice->what, what);
    EXPECT_EQ(notice->node, 12);
  }
  for (const char* line :
       {"", "started", "rematch-node x started", "rematch-node -1 started", "rematch-node 1 stopped", "rematch-node 1 done now"})
    EXPECT_FALSE(parse_notice_line(line)) << line;
}

// Of a trial on two nodes with two ranks each.
LaunchRecord part_of(const protocol::Trial& trial, std::int64_t node, LaunchEnd end, std::optional<std::int64_t> cause = std::nullopt,
                     std::int64_t exit_code = 0) {
  LaunchRecord part;
  part.trial_id = trial.trial_id;
  part.host = "host";
  part.supervisor_pid = 100 + node;
  part.command = {"train"};
  part.environment = {{"WORLD_SIZE", "4"}};
  part.end = end;
  part.cause_rank = cause;
  part.message = end == LaunchEnd::kAllExited ? "" : "words of node " + std::to_string(node);
  part.nodes = {{"n" + std::to_string(node + 1), "host", std::to_string(node), std::nullopt}};
  part.strays_ended = node;
  for (std::int64_t rank : ranks_of_share(trial, {node, 2, ""})) {
    protocol::RankExit exit{.rank = rank, .pid = 200 + rank, .exit_code = 0};
    if (rank == cause) exit.exit_code = exit_code;
    part.ranks.push_back(exit);
  }
  return part;
}

class MergeParts : public ::testing::Test {
 protected:
  LaunchRecord merged(LaunchRecord first, LaunchRecord second, std::vector<std::int64_t> failed_nodes = {}) {
    step_.parts = {std::move(first), std::move(second)};
    step_.failed_nodes = std::move(failed_nodes);
    return merge_parts(trial_, step_);
  }
  protocol::Trial trial_ = make_trial(4);
  StepParts step_;
};

TEST_F(MergeParts, JoinsRanksNodesAndStrays) {
  const LaunchRecord record = merged(part_of(trial_, 0, LaunchEnd::kAllExited), part_of(trial_, 1, LaunchEnd::kAllExited));
  EXPECT_EQ(record.end, LaunchEnd::kAllExited);
  EXPECT_EQ(record.trial_id, trial_.trial_id);
  EXPECT_EQ(record.supervisor_pid, 100);
  EXPECT_EQ(record.environment.at("WORLD_SIZE"), "4");
  EXPECT_EQ(record.strays_ended, 1);
  ASSERT_EQ(record.nodes.size(), 2U);
  EXPECT_EQ(record.nodes[1].node, "n2");
  ASSERT_EQ(record.ranks.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(record.ranks[i].rank, static_cast<std::int64_t>(i));
    EXPECT_EQ(record.ranks[i].node, static_cast<std::int64_t>(i / 2));
    EXPECT_EQ(record.ranks[i].pid, 200 + static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(record.message, "");
}

TEST_F(MergeParts, TakesTheNodeThatWasHeardOfFirst) {
  const LaunchRecord record =
      merged(part_of(trial_, 0, LaunchEnd::kRankFailed, 1, 10), part_of(trial_, 1, LaunchEnd::kRankFailed, 3, 70), {1, 0});
  EXPECT_EQ(record.end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.cause_rank, 3);
  EXPECT_EQ(record.message, "node n2: words of node 1");
}

TEST_F(MergeParts, DoesNotBlameARankThatLostItsPeersThoughItWasHeardOfFirst) {
  const LaunchRecord record =
      merged(part_of(trial_, 0, LaunchEnd::kRankFailed, 0, 12), part_of(trial_, 1, LaunchEnd::kRankFailed, 2, 70), {0, 1});
  EXPECT_EQ(record.cause_rank, 2);
  const LaunchRecord both =
      merged(part_of(trial_, 0, LaunchEnd::kRankFailed, 0, 12), part_of(trial_, 1, LaunchEnd::kRankFailed, 2, 12), {1, 0});
  EXPECT_EQ(both.cause_rank, 2) << "both lost peers: the first to be heard of";
}

TEST_F(MergeParts, PrefersADeadlineOrAStopToLostPeersAndAFailureToBoth) {
  EXPECT_EQ(merged(part_of(trial_, 0, LaunchEnd::kRankFailed, 0, 12), part_of(trial_, 1, LaunchEnd::kTimeout), {0, 1}).end,
            LaunchEnd::kTimeout);
  EXPECT_EQ(merged(part_of(trial_, 0, LaunchEnd::kRankFailed, 0, 12), part_of(trial_, 1, LaunchEnd::kInterrupted), {0}).end,
            LaunchEnd::kInterrupted);
  EXPECT_EQ(merged(part_of(trial_, 0, LaunchEnd::kInterrupted), part_of(trial_, 1, LaunchEnd::kRankFailed, 2, 10)).cause_rank, 2);
  EXPECT_EQ(merged(part_of(trial_, 0, LaunchEnd::kRankFailed, 0, 10), part_of(trial_, 1, LaunchEnd::kLaunchFailed)).end,
            LaunchEnd::kLaunchFailed);
}

TEST_F(MergeParts, RecordsRanksOfALostNodeAsNeverHeardOf) {
  step_.parts = {part_of(trial_, 0, LaunchEnd::kRankFailed, 0, 12), std::nullopt};
  step_.node_names = {"n1", "n2"};
  step_.failed_nodes = {0};
  step_.problem = StepProblem{LaunchEnd::kNodeFailed, "srun: error: Node failure on n2"};
  const LaunchRecord record = merge_parts(trial_, step_);
  EXPECT_EQ(record.end, LaunchEnd::kNodeFailed);
  EXPECT_EQ(record.cause_rank, std::nullopt);
  EXPECT_EQ(record.message, "srun: error: Node failure on n2");
  EXPECT_EQ(record.nodes[1].node, "n2");
  EXPECT_EQ(record.nodes[1].host, "");
  EXPECT_EQ(record.ranks[3].pid, 0);
  EXPECT_EQ(record.ranks[3].exit_code, std::nullopt);
  EXPECT_EQ(record.ranks[3].signal, std::nullopt);
  EXPECT_EQ(record.ranks[3].node, 1);
  EXPECT_EQ(protocol::to_json(protocol::parse_launch_record(protocol::to_json(record))), protocol::to_json(record));
}

TEST_F(MergeParts, KeepsAFailureOfARanksOwnBeforeTheNodeWasLost) {
  step_.parts = {part_of(trial_, 0, LaunchEnd::kRankFailed, 0, 10), std::nullopt};
  step_.failed_nodes = {0};
  step_.problem = StepProblem{LaunchEnd::kNodeFailed, "Node failure on n2"};
  EXPECT_EQ(merge_parts(trial_, step_).cause_rank, 0);
  EXPECT_EQ(merge_parts(trial_, step_).end, LaunchEnd::kRankFailed);
}

TEST_F(MergeParts, DoesNotBlameARankThatWasKilledWithItsStep) {
  LaunchRecord first = part_of(trial_, 0, LaunchEnd::kRankFailed, 0);
  first.ranks[0].exit_code.reset();
  first.ranks[0].signal = 9;
  step_.parts = {first, std::nullopt};
  step_.failed_nodes = {0};
  EXPECT_EQ(merge_parts(trial_, step_).end, LaunchEnd::kControllerLost);
  EXPECT_EQ(merged(first, part_of(trial_, 1, LaunchEnd::kRankFailed), {0}).cause_rank, 0) << "each node left its part";
}

TEST_F(MergeParts, NamesTheNodeAndTheRanksOfASupervisorThatLeftNoRecord) {
  step_.parts = {part_of(trial_, 0, LaunchEnd::kRankFailed), std::nullopt};
  step_.step_words = "ended with exit code 137";
  const LaunchRecord record = merge_parts(trial_, step_);
  EXPECT_EQ(record.end, LaunchEnd::kControllerLost);
  EXPECT_EQ(record.message, "node number 1 (ranks 2 to 3) left no record; srun: ended with exit code 137");
}

TEST(NodeParts, SettlesAnAttemptOutOfThePartsThatAreThere) {
  const tests::TempDir folder;
  const protocol::Trial trial = make_trial(4);
  const protocol::AttemptPaths paths{folder.path()};
  protocol::write_file_by_rename(paths.trial(), protocol::to_json(trial).dump());
  settle_parts(folder.path());
  EXPECT_FALSE(std::filesystem::exists(paths.launch())) << "an attempt on one machine has no parts";
  make_node_folders(folder.path(), 2);
  settle_parts(folder.path());
  EXPECT_FALSE(std::filesystem::exists(paths.launch())) << "no part says anything";
  LaunchRecord part = part_of(trial, 1, LaunchEnd::kControllerLost);
  part.attempt = 3;
  part.start_unix_ns = 50;
  part.end_unix_ns = 60;
  protocol::write_file_by_rename(paths.node(1).launch(), protocol::to_json(part).dump());
  settle_parts(folder.path());
  const LaunchRecord record = protocol::read_launch_record(paths.launch().string());
  EXPECT_EQ(record.end, LaunchEnd::kControllerLost);
  EXPECT_EQ(record.attempt, 3);
  EXPECT_EQ(record.start_unix_ns, 50);
  EXPECT_EQ(record.ranks[0].pid, 0);
  EXPECT_EQ(record.ranks[2].pid, 202);
}

}  // namespace
}  // namespace rematch::launch

// What only a job step can show. Needs an allocation of two nodes, with this program as its command: tests/slurm has one. A command that
// fails a node, "COMMAND NODE", stands in REMATCH_FAIL_NODE.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <thread>

#include "orchestrator/launch/allocation.h"
#include "orchestrator/launch/attempt_processes.h"
#include "orchestrator/launch/find_program.h"
#include "orchestrator/launch/launcher.h"
#include "orchestrator/launch/process.h"
#include "orchestrator/launch/step_command.h"
#include "schemas/protocol/launch_record.h"
#include "tests/support/fake_attempt.h"

namespace rematch::tests {
namespace {

using protocol::LaunchEnd;
using protocol::LaunchRecord;
using std::chrono::milliseconds;

class JobStep : public ::testing::TestWithParam<std::string> {
 protected:
  LaunchRecord run(FakeAttempt& attempt, const FakeAttempt::During& during = nullptr) {
    attempt.request().step.num_nodes = 2;
    const auto result = attempt.run(*launch::make_launcher("srun").value(), during);
    if (!result) throw std::runtime_error("the attempt did not end within the test's deadline");
    return result->value();
  }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JobStep);

TEST_P(JobStep, LaysRanksOnNodesInOrderAndRecordsWhereTheyWere) {
  FakeAttempt attempt("", 4);
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kAllExited) << record.message;
  ASSERT_EQ(record.nodes.size(), 2U);
  EXPECT_LT(record.nodes[0].node, record.nodes[1].node) << "in the order of the allocation";
  EXPECT_EQ(record.environment.at("LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(record.allocation->job_id, launch::environment_number("SLURM_JOB_ID"));
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    const auto file = protocol::read_record_file(attempt.paths().rank_record(rank));
    EXPECT_EQ(std::get<protocol::HelloRecord>(file.records.front()).local_rank, rank % 2);
    EXPECT_EQ(record.ranks[static_cast<std::size_t>(rank)].node, rank / 2);
  }
  EXPECT_EQ(protocol::read_launch_record(attempt.paths().node(1).launch().string()).nodes[0].node, record.nodes[1].node);
}

TEST_P(JobStep, EndsTheOtherNodeWhenARankFailsAndLetsItBeTheCause) {
  FakeAttempt attempt(R"({"rules":[{"rank":3,"do":"exit","code":10,"stage":"built"},{"do":"hang","stage":"first_forward"}]})", 4);
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.cause_rank, 3);
  EXPECT_EQ(record.ranks[3].exit_code, 10);
  for (const std::size_t rank : {0U, 1U, 2U}) EXPECT_TRUE(record.ranks[rank].ended_by_supervisor) << rank;
}

TEST_P(JobStep, NamesTheNodeWhoseSupervisorWasKilledAndEndsTheOther) {
  FakeAttempt attempt(R"({"rules":[{"do":"hang"}]})", 4);
  const LaunchRecord record = run(attempt, [&](auto&) { ::kill(parent_of(pid_of_rank(attempt, 2)), SIGKILL); });
  EXPECT_EQ(record.end, LaunchEnd::kControllerLost);
  EXPECT_NE(record.message.find("(ranks 2 to 3) left no record"), std::string::npos) << record.message;
  EXPECT_EQ(record.ranks[2].pid, 0);
  EXPECT_TRUE(eventually([&] { return launch::attempt_processes(attempt.paths().root).empty(); }));
}

TEST_P(JobStep, SaysWhatSrunSaidOfAnOptionThatItDoesNotKnow) {
  FakeAttempt attempt("");
  attempt.request().step.options = {{"no-such-option", "7"}};
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kLaunchFailed);
  EXPECT_NE(record.message.find("no-such-option"), std::string::npos) << record.message;
  EXPECT_EQ(record.ranks[1].pid, 0);
}

TEST_P(JobStep, GivesUpAStepThatDoesNotStartWithinItsDeadline) {
  boost::asio::io_context context;
  launch::ProcessSpec other;  // has all of both nodes
  other.program = launch::find_program("srun").value();
  other.arguments = {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--mem=0", "sleep", "60"};
  other.arguments.insert(other.arguments.begin(),
                         "--cpus-per-task=" + std::to_string(launch::resources_from_environment().cpus_per_node.value()));
  other.placement = launch::Placement::kNewGroup;
  const auto running = launch::start_process(context, other);
  ASSERT_TRUE(running);
  std::this_thread::sleep_for(time_allowance(milliseconds(300)));
  FakeAttempt attempt("");
  attempt.request().step.start_deadline = time_allowance(milliseconds(500));
  const LaunchRecord record = run(attempt);
  ::kill(running.value()->pid(), SIGTERM);
  EXPECT_EQ(record.end, LaunchEnd::kLaunchFailed);
  EXPECT_NE(record.message.find("wanted a supervisor on each of 2 nodes within"), std::string::npos) << record.message;
  EXPECT_TRUE(eventually([&] { return !is_alive(running.value()->pid()); }));
}

TEST_P(JobStep, IsSettledOutOfItsPartsWhenItsLauncherIsGone) {
  FakeAttempt attempt(R"({"rules":[{"rank":0,"do":"daemon"},{"do":"hang"}]})", 4);
  attempt.request().step.num_nodes = 2;
  const auto launcher = launch::make_launcher("srun");
  protocol::write_file_by_rename(attempt.paths().trial(), protocol::to_json(attempt.trial()).dump());
  boost::asio::io_context context;
  auto running = launcher.value()->start(context, attempt.request(), [](auto) {});
  ASSERT_TRUE(eventually([&] { return daemon_pid(attempt.paths().root, 0) != 0; }));
  running.reset();
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(attempt.paths().node(1).launch()); }));
  EXPECT_TRUE(launch::make_launcher("srun").value()->wait_until_gone(attempt.paths().root, {time_allowance(milliseconds(5'000))}));
  EXPECT_EQ(protocol::read_launch_record(attempt.paths().launch().string()).end, LaunchEnd::kControllerLost);
  EXPECT_FALSE(is_alive(daemon_pid(attempt.paths().root, 0)));
}

INSTANTIATE_TEST_SUITE_P(InAllocation, JobStep,
                         ::testing::ValuesIn(launch::allocation_from_environment() ? std::vector<std::string>{"srun"}
                                                                                   : std::vector<std::string>{}),
                         [](const auto& parameter) { return parameter.param; });

// Each takes a node or many seconds.
class JobStepOfItsOwn : public JobStep {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JobStepOfItsOwn);

TEST_P(JobStepOfItsOwn, EndsRanksThatGoOnAfterThoseOfTheOtherNodeHadEnded) {
  FakeAttempt attempt(R"({"rules":[{"rank":3,"do":"hang","stage":"done"}]})", 4);
  const LaunchRecord record = run(attempt);
  EXPECT_EQ(record.end, LaunchEnd::kRankFailed);
  EXPECT_EQ(record.cause_rank, 3);
  EXPECT_TRUE(record.ranks[3].ended_by_supervisor);
}

TEST_P(JobStepOfItsOwn, IsEndedByAFailedNodeWhichIsNamed) {
  const auto fail_node = launch::environment_text("REMATCH_FAIL_NODE");
  ASSERT_TRUE(fail_node);
  FakeAttempt attempt(R"({"rules":[{"do":"hang"}]})", 4);
  std::string node;
  const LaunchRecord record = run(attempt, [&](auto&) {
    const std::string list = launch::environment_text("SLURM_JOB_NODELIST").value();
    node = "n" + list.substr(list.find_first_of("-,") + 1, 1);     // of "n[3-4]"
    EXPECT_EQ(std::system((*fail_node + " " + node).c_str()), 0);  // NOLINT(concurrency-mt-unsafe, cert-env33-c)
  });
  EXPECT_EQ(record.end, LaunchEnd::kNodeFailed) << record.message;
  EXPECT_NE(record.message.find(node), std::string::npos) << record.message;
  EXPECT_EQ(record.nodes[1].node, node);
  EXPECT_EQ(record.ranks[0].signal, SIGTERM) << "the node that was left ended in order";
}

INSTANTIATE_TEST_SUITE_P(InAllocation, JobStepOfItsOwn,
                         ::testing::ValuesIn(launch::environment_text("REMATCH_FAIL_NODE") ? std::vector<std::string>{"srun"}
                                                                                           : std::vector<std::string>{}),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace rematch::tests

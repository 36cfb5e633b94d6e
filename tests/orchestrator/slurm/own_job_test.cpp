#include "orchestrator/slurm/own_job.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "orchestrator/launch/allocation.h"
#include "tests/orchestrator/slurm/fake_client.h"

namespace rematch::slurm {
namespace {

using std::chrono::seconds;

const protocol::Allocation kJob{.job_id = 17};
const protocol::Allocation kElement{.job_id = 15, .array_job_id = 15, .array_task_id = 2};

TEST(OwnJob, IsNamedByArrayAndIndexWhereItIsAnElement) {
  EXPECT_EQ(job_text(kJob), "17");
  EXPECT_EQ(job_text(kElement), "15_2");
}

TEST(OwnJob, IsNoElementOfTheArrayThatItWasSubmittedFrom) {
  ::setenv("SLURM_JOB_ID", "17", 1);
  ::setenv("SLURM_ARRAY_JOB_ID", "7", 1);
  ::setenv("SLURM_ARRAY_TASK_ID", "0", 1);
  forget_other_arrays(protocol::SubmissionShape::kArray);
  EXPECT_EQ(job_text(launch::allocation_from_environment().value()), "7_0");
  forget_other_arrays(protocol::SubmissionShape::kAllocation);
  EXPECT_EQ(job_text(launch::allocation_from_environment().value()), "17");
  ::unsetenv("SLURM_JOB_ID");
}

TEST(OwnJob, TellsTheTimeLeftOrThatItIsNotKnown) {
  tests::FakeClient client;
  EXPECT_FALSE(time_left(client, kJob)) << "no answer";
  const std::string question = "squeue -h -j 17 -o %L";
  const std::vector<std::pair<std::string, std::optional<seconds>>> cases = {{"4:59\n", seconds(299)},    {"1-02:03:04\n", seconds(93'784)},
                                                                             {"  0:00\n", seconds(0)},    {"UNLIMITED\n", std::nullopt},
                                                                             {"INVALID\n", std::nullopt}, {"", std::nullopt}};
  for (const auto& [text, wanted] : cases) {
    client.answers[question] = {0, text, ""};
    EXPECT_EQ(time_left(client, kJob), wanted) << text;
  }
  client.answers[question] = {1, "4:59\n", "slurm_load_jobs error"};
  EXPECT_FALSE(time_left(client, kJob));
  client.answers["squeue -h -j 15_2 -o %L"] = {0, "1:00\n", ""};
  EXPECT_EQ(time_left(client, kElement), seconds(60));
}

TEST(OwnJob, CountsItsNodes) {
  tests::FakeClient client;
  client.answers["squeue -h -j 17 -o %D"] = {0, "3\n", ""};
  EXPECT_EQ(num_nodes_now(client, kJob), 3);
  client.answers["squeue -h -j 17 -o %D"] = {0, "", ""};
  EXPECT_FALSE(num_nodes_now(client, kJob));
}

TEST(OwnJob, SaysWhySlurmDidNotTakeItBack) {
  tests::FakeClient client;
  EXPECT_EQ(requeue(client, kJob)->message, "scontrol requeue 17: no answer");
  client.answers["scontrol requeue 15_2"] = {1, "", "Job has been disabled for requeue\n"};
  EXPECT_EQ(requeue(client, kElement)->message, "scontrol requeue 15_2 ended with exit code 1: Job has been disabled for requeue");
  client.answers["scontrol requeue 15_2"] = {0, "", ""};
  EXPECT_FALSE(requeue(client, kElement));
}

TEST(OwnJob, ReadsHowLongBeforeTheLimitItsSignalComes) {
  EXPECT_EQ(signal_margin({"sbatch", "--signal=B:USR1@120", "--time=5", "x.sh"}), seconds(120));
  EXPECT_EQ(signal_margin({"sbatch", "--signal=B:USR1@120", "--signal=USR1@20"}), seconds(20)) << "the last counts";
  EXPECT_EQ(signal_margin({"sbatch", "--signal=B:USR1"}), seconds(60)) << "sbatch's own";
  EXPECT_FALSE(signal_margin({"sbatch", "--signal=B:TERM@30"}));
  EXPECT_FALSE(signal_margin({"sbatch", "--time=5"}));
}

}  // namespace
}  // namespace rematch::slurm

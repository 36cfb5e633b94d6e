#include "orchestrator/slurm/job_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace rematch::slurm {
namespace {

// Recorded from Slurm 22.05.8.
constexpr const char* kSqueue =
    "11|11|N/A|CANCELLED|None|15|0|n1|2026-11-30T07:30:47|2026-11-30T07:30:48|2026-11-30T07:30:48|rm-cancel|\n"
    "1|1|N/A|COMPLETED|None|0|0|n1|2026-11-30T07:30:47|2026-11-30T07:30:48|2026-11-30T07:30:48|rm-ok|\n"
    "2|2|N/A|FAILED|NonZeroExitCode|10752|0|n1|2026-11-30T07:30:47|2026-11-30T07:30:48|2026-11-30T07:30:48|rm-42|\n"
    "10|10|N/A|FAILED|BadConstraints|1|0||2026-11-30T07:30:47|2026-11-30T07:30:47|2026-11-30T07:30:47|rm-mem|\n"
    "4|4|3|PENDING|JobArrayTaskLimit|0|0||2026-11-30T07:30:47|N/A|N/A|rm-arr|\n"
    "6|6|N/A|PENDING|PartitionConfig|0|0||2026-11-30T07:30:47|N/A|N/A|rm-impossible|\n"
    "7|7|N/A|PENDING|BeginTime|0|0||2026-11-30T07:30:47|2026-11-30T08:30:47|2026-11-30T08:40:47|rm-later|\n"
    "9|9|N/A|PENDING|DependencyNeverSatisfied|0|0||2026-11-30T07:30:47|N/A|N/A|rm-dep|\n"
    "5|5|N/A|PENDING|JobHeldUser|0|0||2026-11-30T07:30:47|N/A|N/A|rm-held|\n"
    "17|17|N/A|NODE_FAIL|NodeDown|0|0|n2|2026-11-30T07:32:35|2026-11-30T07:32:36|2026-11-30T07:32:39|rm-nf|\n"
    "18|18|N/A|PENDING|BeginTime|0|1||2026-11-30T07:32:37|2026-11-30T07:32:48|2026-11-30T07:42:48|rm-req|\n"
    "19|19|N/A|PENDING|launch failed requeued held|0|1||2026-11-30T07:32:37|N/A|N/A|rm-launch|\n"
    "20|20|N/A|PENDING|(Nodes required for job are DOWN, DRAINED or reserved)|0|0||2026-11-30T07:32:37|N/A|N/A|rm-down|\n"
    "13|4|1|RUNNING|None|0|0|n[1-2]|2026-11-30T07:30:47|2026-11-30T07:30:48|2026-11-30T07:40:48|rm-arr|\n";

constexpr const char* kSacct =
    "2|2|rm-42|FAILED|42:0|2026-11-30T07:32:35|2026-11-30T07:32:36|2026-11-30T07:32:36|n1\n"
    "3|3|rm-cancel|CANCELLED by 0|0:15|2026-11-30T07:32:35|2026-11-30T07:32:36|2026-11-30T07:32:37|n1\n"
    "4|4|rm-req|REQUEUED|0:0|2026-11-30T07:32:35|2026-11-30T07:32:36|2026-11-30T07:32:37|n1\n"
    "4|4|rm-req|PENDING|0:0|2026-11-30T07:32:37|Unknown|Unknown|None assigned\n"
    "6|6|rm-nf|NODE_FAIL|0:0|2026-11-30T07:32:35|2026-11-30T07:32:36|2026-11-30T07:32:39|n2\n"
    "7|5_0|rm-arr|RUNNING|0:0|2026-11-30T07:32:35|2026-11-30T07:32:36|Unknown|n1\n";

JobRow named(const std::vector<JobRow>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const JobRow& row) { return row.name == name; });
  if (found == rows.end()) throw std::runtime_error("no row " + name);
  return *found;
}

TEST(Squeue, OfEveryStateIsReadToARow) {
  const auto rows = parse_squeue(kSqueue);
  EXPECT_EQ(rows.size(), 14U);
  EXPECT_EQ(named(rows, "rm-ok").state, JobState::kCompleted);
  EXPECT_EQ(named(rows, "rm-42").state, JobState::kFailed);
  EXPECT_EQ(named(rows, "rm-42").exit_code, 42);
  EXPECT_FALSE(named(rows, "rm-42").signal);
  EXPECT_EQ(named(rows, "rm-cancel").signal, 15);
  EXPECT_EQ(named(rows, "rm-nf").state, JobState::kNodeFail);
  EXPECT_EQ(named(rows, "rm-req").restart_count, 1);
  EXPECT_EQ(named(rows, "rm-launch").reason, "launch failed requeued held");
  EXPECT_EQ(named(rows, "rm-down").reason, "(Nodes required for job are DOWN, DRAINED or reserved)") << "a comma ends no column";
  EXPECT_EQ(named(rows, "rm-held").start_time, "") << "N/A is not known";
  const JobRow waiting = named(rows, "rm-arr");
  EXPECT_EQ(waiting.array_job_id, 4);
  EXPECT_EQ(waiting.array_task_id, 3);
  EXPECT_FALSE(named(rows, "rm-ok").array_job_id) << "a job that is no array has none";
  EXPECT_EQ(rows.back().job_id, 13) << "an element that runs has an id of its own";
  EXPECT_EQ(rows.back().node_list, "n[1-2]");
}

TEST(Squeue, OfAnotherVersionMayHaveMoreColumnsAndOtherLines) {
  const auto rows = parse_squeue("squeue: warning: something\n\n1|1|N/A|RUNNING|None|0|0|n1|a|b|c|name|new|\n1|1|N/A|RUNNING\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "name");
}

TEST(JobState, IsToldByItsFirstWordAndTheFlagOfAnUnfinishedEnd) {
  EXPECT_EQ(parse_job_state("CANCELLED by 1000"), JobState::kCancelled);
  EXPECT_EQ(parse_job_state("COMPLETED+"), JobState::kCompleted);
  EXPECT_EQ(parse_job_state("FAILED,COMPLETING"), JobState::kRunning);
  EXPECT_EQ(parse_job_state("PENDING,REQUEUED"), JobState::kPending);
  EXPECT_EQ(parse_job_state("COMPLETING"), JobState::kRunning);
  EXPECT_EQ(parse_job_state("BOOT_FAIL"), JobState::kNodeFail);
  EXPECT_EQ(parse_job_state("EXPEDITING_SOON"), JobState::kOther);
  EXPECT_TRUE(is_active(JobState::kOther)) << "nothing is concluded from a word that is not known";
  EXPECT_FALSE(is_active(JobState::kPreempted));
}

TEST(Sacct, HasARowAnAttemptAndTheIdsOfElements) {
  const auto rows = parse_sacct(kSacct);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(named(rows, "rm-cancel").state, JobState::kCancelled);
  EXPECT_EQ(named(rows, "rm-cancel").state_text, "CANCELLED by 0");
  EXPECT_EQ(rows[2].state, JobState::kPending) << "a requeued attempt is followed by another";
  EXPECT_EQ(rows[3].node_list, "");
  EXPECT_EQ(rows[5].array_job_id, 5);
  EXPECT_EQ(rows[5].array_task_id, 0);
  EXPECT_EQ(rows[5].job_id, 7);
  EXPECT_TRUE(parse_sacct("Slurm accounting storage is disabled\n").empty());
}

TEST(SqueueCommand, NamesTheJobsUntilTheListGrowsLong) {
  const auto narrow = squeue_command(1000, {"a", "b"});
  EXPECT_NE(std::find(narrow.begin(), narrow.end(), "a,b"), narrow.end());
  EXPECT_NE(std::find(narrow.begin(), narrow.end(), "1000"), narrow.end());
  const auto wide = squeue_command(1000, std::vector<std::string>(kMostNames + 1, "a"));
  EXPECT_EQ(std::find(wide.begin(), wide.end(), "-n"), wide.end());
}

}  // namespace
}  // namespace rematch::slurm

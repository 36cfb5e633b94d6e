#include "orchestrator/slurm/submit.h"

#include "tests/orchestrator/slurm/cluster_fixture.h"

namespace rematch::slurm {
namespace {

using Sbatch = tests::FakeSlurm::Sbatch;

class SubmitTest : public tests::ClusterFixture {};

TEST_F(SubmitTest, WritesItsIntentAndScriptBeforeSbatchIsCalled) {
  slurm_.sbatch_next = {Sbatch::kIsDeaf};
  slurm_.answers = false;
  slurm_.on_pause = [&] { slurm_.is_told_to_stop = true; };
  const SubmitResult result = submitter_.submit({{}});
  EXPECT_EQ(result.end, SubmitEnd::kUnknown);
  const auto open = store_.open();
  ASSERT_EQ(open.size(), 1U) << "what may have been submitted stays open";
  EXPECT_FALSE(open[0].job_id);
  EXPECT_GT(open[0].intent_unix_ns, 0);
  EXPECT_TRUE(std::filesystem::exists(store_.paths().submission_script(open[0].name)));
  EXPECT_EQ(open[0].command.front(), "sbatch");
}

TEST_F(SubmitTest, RecordsTheIdOfAnAnswerThatNamesItsCluster) {
  const SubmitResult result = submitter_.submit({{}});
  EXPECT_EQ(result.end, SubmitEnd::kSubmitted);
  EXPECT_EQ(store_.open().at(0).job_id, 17);
  EXPECT_TRUE(store_.open().at(0).submit_unix_ns);
  EXPECT_EQ(slurm_.num_client_calls(), 1);
}

TEST_F(SubmitTest, FindsByItsNameWhatAnSbatchWithoutAnswerHadSubmitted) {
  slurm_.sbatch_next = {Sbatch::kTakesAndIsDeaf};
  EXPECT_EQ(submitter_.submit({{}}).end, SubmitEnd::kSubmitted);
  EXPECT_EQ(store_.open().at(0).job_id, 17);
  EXPECT_EQ(slurm_.jobs.size(), 1U);
}

TEST_F(SubmitTest, SendsTheSameSubmissionAgainWhenItsNameIsSurelyNotThere) {
  slurm_.sbatch_next = {Sbatch::kIsDeaf, Sbatch::kIsDeaf};
  EXPECT_EQ(submitter_.submit({{}}).end, SubmitEnd::kSubmitted);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 3);
  EXPECT_EQ(store_.all().size(), 1U) << "under one name";
  EXPECT_EQ(slurm_.jobs.at(0).name, store_.all()[0].name);
}

TEST_F(SubmitTest, SendsItNoMoreThanThreeTimes) {
  slurm_.sbatch_next.assign(9, Sbatch::kIsDeaf);
  const SubmitResult result = submitter_.submit({{}});
  EXPECT_EQ(result.end, SubmitEnd::kUnknown);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1 + kMostResends);
  EXPECT_NE(result.message.find("Run again"), std::string::npos);
}

TEST_F(SubmitTest, DoesNotSendAgainWhileSlurmIsAwayAndGivesUpAfterMinutes) {
  slurm_.sbatch_next = {Sbatch::kIsDeaf};
  slurm_.answers = false;
  const auto begin = slurm_.now;
  EXPECT_EQ(submitter_.submit({{}}).end, SubmitEnd::kUnknown);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
  EXPECT_GE(slurm_.now - begin, kLookupDeadline);
}

TEST_F(SubmitTest, LooksIntoAccountingForAJobThatTheControllerForgot) {
  slurm_.sbatch_next = {Sbatch::kIsDeaf};
  slurm_.answers = false;
  slurm_.on_pause = [&] { slurm_.is_told_to_stop = true; };
  submitter_.submit({{}});
  slurm_.answers = true;
  slurm_.has_accounting = true;
  slurm_.accounted = {{23, store_.open().at(0).name, std::nullopt, "COMPLETED"}};
  EXPECT_EQ(submitter_.reconcile(store_.open().at(0)).end, SubmitEnd::kSubmitted);
  EXPECT_EQ(store_.open().at(0).job_id, 23);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(SubmitTest, TakesARunnersRecordForAProofThatItWasSubmitted) {
  slurm_.sbatch_next = {Sbatch::kIsDeaf};
  slurm_.answers = false;
  slurm_.on_pause = [&] { slurm_.is_told_to_stop = true; };
  submitter_.submit({{}});
  slurm_.answers = true;
  write_runner("study", 1, store_.open().at(0).name, protocol::RunnerEnd::kComplete);
  EXPECT_EQ(submitter_.reconcile(store_.open().at(0)).end, SubmitEnd::kSubmitted);
  EXPECT_EQ(slurm_.num_calls["sbatch"], 1);
}

TEST_F(SubmitTest, ClosesWhatSlurmRefusesInSlurmsWords) {
  slurm_.sbatch_next = {Sbatch::kRefuses};
  const SubmitResult result = submitter_.submit({{}});
  EXPECT_EQ(result.end, SubmitEnd::kRefused);
  EXPECT_EQ(result.message,
            "Slurm refused the job: invalid partition specified: nope; Batch job submission failed: Invalid partition name specified");
  EXPECT_TRUE(store_.open().empty());
  EXPECT_FALSE(store_.all().at(0).message.empty());
}

TEST(IsRefusal, TellsWhatConcernsTheJobFromAControllerThatCouldNotBeReached) {
  EXPECT_TRUE(
      is_refusal({1, "", "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"}));
  for (const char* words : {"Unable to contact slurm controller (connect failure)", "Socket timed out on send/recv operation",
                            "Zero Bytes were transmitted or received", "Slurm temporarily unable to accept job, sleeping and retrying"})
    EXPECT_FALSE(is_refusal({1, "", std::string("sbatch: error: Batch job submission failed: ") + words})) << words;
  EXPECT_FALSE(is_refusal({130, "", ""})) << "ended by a signal";
  EXPECT_FALSE(is_refusal({0, "no number", ""}));
}

TEST(ParseSbatchAnswer, ReadsANumberAndPassesOverTheCluster) {
  EXPECT_EQ(parse_sbatch_answer("17\n"), 17);
  EXPECT_EQ(parse_sbatch_answer("17;lab\n"), 17);
  EXPECT_FALSE(parse_sbatch_answer(""));
  EXPECT_FALSE(parse_sbatch_answer("Submitted batch job 17"));
}

std::vector<std::size_t> sizes(const std::vector<std::vector<protocol::SubmissionTask>>& submissions) {
  std::vector<std::size_t> found;
  for (const auto& tasks : submissions) found.push_back(tasks.size());
  return found;
}

TEST(SubmissionsOf, SplitsAnArrayWhereSlurmTakesNoLargerAndASplitOneWaitsForItsThrottle) {
  const std::vector<protocol::SubmissionTask> parts(10);
  spec::SlurmSpec slurm;
  slurm.shape = "array";
  EXPECT_EQ(sizes(submissions_of(parts, slurm, 4)), (std::vector<std::size_t>{4, 4, 2}));
  EXPECT_EQ(sizes(submissions_of(parts, slurm, 10)), (std::vector<std::size_t>{10}));
  slurm.throttle = 2;
  EXPECT_EQ(sizes(submissions_of(parts, slurm, 4)), (std::vector<std::size_t>{4}));
  slurm.shape = "trials";
  EXPECT_EQ(sizes(submissions_of(parts, slurm, 4)), std::vector<std::size_t>(10, 1));
}

}  // namespace
}  // namespace rematch::slurm

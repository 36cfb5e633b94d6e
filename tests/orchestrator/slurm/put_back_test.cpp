#include "orchestrator/slurm/put_back.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "orchestrator/engine/held_signals.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/submission.h"
#include "tests/orchestrator/slurm/fake_client.h"
#include "tests/support/temp_dir.h"

namespace rematch::slurm {
namespace {

using protocol::RunnerEnd;
using Calls = std::vector<std::string>;

// Something happens while the last word is written: after everything that was looked at before.
class PutBack : public ::testing::Test {
 protected:
  PutBack() {
    std::filesystem::create_directories(submission_.parent_path());
    put({});
    client_.answers["scontrol requeue 17"] = {0, "", ""};
  }
  ~PutBack() override { ::signal(SIGTERM, SIG_DFL); }

  void put(protocol::Submission submission) const {
    submission.name = "s";
    submission.study_id = "00000000000000aa";
    protocol::write_file_by_rename(submission_, protocol::to_json(submission).dump());
  }

  RunnerResult put_back_while(const std::function<void()>& happens) {
    protocol::RunnerRecord record;
    record.scope = "study";
    record.runner_id = "0000000000000010";
    record.allocation = protocol::Allocation{.job_id = 17};
    bool is_filed = false;
    engine::ClaimOptions options;
    options.overlaps = [](const std::string&) { return true; };
    options.clock.unix_ns = [&] {
      if (is_filed) happens();
      return std::int64_t{1};
    };
    engine::Claim claim(folder_.path(), record, options);
    is_filed = true;
    const RunnerResult result = put_back(claim, submission_, client_, "the limit is near");
    const auto on_disk = protocol::read_runner_record(protocol::StudyPaths{folder_.path()}.runner("study", 1).string());
    EXPECT_EQ(on_disk.end, result.end);
    EXPECT_EQ(on_disk.message, result.message);
    return result;
  }

  tests::TempDir folder_;
  std::filesystem::path submission_ = protocol::StudyPaths{folder_.path()}.submission("s");
  tests::FakeClient client_;
  engine::HeldSignals held_;
};

TEST_F(PutBack, AsksSlurmAndSaysSo) {
  EXPECT_EQ(put_back_while([] {}).end, RunnerEnd::kRequeued);
  EXPECT_EQ(client_.calls, Calls{"scontrol requeue 17"});
}

TEST_F(PutBack, IsNotStoppedByTheSignalThatCausedIt) {
  EXPECT_EQ(put_back_while([] { ::raise(SIGUSR1); }).end, RunnerEnd::kRequeued);
}

TEST_F(PutBack, HeedsASignalToEndThatCameMeanwhile) {
  const RunnerResult result = put_back_while([] { ::raise(SIGTERM); });
  EXPECT_EQ(result.end, RunnerEnd::kInterrupted);
  EXPECT_NE(result.message.find("not put back into the queue: SIGTERM or SIGINT came"), std::string::npos) << result.message;
  EXPECT_EQ(client_.calls, Calls{});
}

TEST_F(PutBack, HeedsACancellationThatCameMeanwhile) {
  const RunnerResult result = put_back_while([this] {
    protocol::Submission cancelled;
    cancelled.cancel_unix_ns = 3;
    put(cancelled);
  });
  EXPECT_EQ(result.end, RunnerEnd::kInterrupted);
  EXPECT_NE(result.message.find("submission s was cancelled"), std::string::npos) << result.message;
  EXPECT_EQ(client_.calls, Calls{});
}

TEST_F(PutBack, SaysThatSlurmRefused) {
  client_.answers["scontrol requeue 17"] = {1, "", "Job has been disabled for requeue\n"};
  const RunnerResult result = put_back_while([] {});
  EXPECT_EQ(result.end, RunnerEnd::kInterrupted);
  EXPECT_NE(result.message.find("disabled for requeue"), std::string::npos) << result.message;
}

}  // namespace
}  // namespace rematch::slurm

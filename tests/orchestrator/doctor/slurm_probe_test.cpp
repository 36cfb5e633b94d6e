#include "orchestrator/doctor/slurm_probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "orchestrator/doctor/probe_script.h"
#include "tests/orchestrator/doctor/scripted_client.h"
#include "tests/support/temp_dir.h"

namespace rematch::doctor {
namespace {

namespace fs = std::filesystem;
using slurm::Answer;

constexpr const char* kGoodDocument =
    R"({"findings":[{"name":"trainer","state":"ok","found":"/t, build 1"},{"name":"lock","state":"problem","found":"held"}]})";
constexpr const char* kGoodAnswer = "temporary=/tmp on xfs\ncode=0\nerror=\n";

std::string row(const std::string& name, const std::string& state, const std::string& reason, int exit_code) {
  return "7|7|N/A|" + state + "|" + reason + "|" + std::to_string(exit_code * 256) + "|0|n1|2026-01-31T09:30:00|N/A|N/A|" + name + "|\n";
}

// A queue with one job, which is this probe's, and a clock that moves with each sleep.
class Queue {
 public:
  Queue() {
    client_.programs["sbatch"] = [this](const auto& command) {
      folder_ = fs::path(command.back()).parent_path();
      return at_submission ? at_submission() : Answer{0, "7;cluster\n", ""};
    };
    client_.programs["squeue"] = [this](const auto&) { return Answer{0, row(folder_.filename(), state, reason, exit_code), ""}; };
    client_.programs["scancel"] = [](const auto&) { return Answer{}; };
    request.rematch = "/rematch";
    request.workspace = root_.path() / "made" / "runs";
    request.trainer = "/t";
    request.trainer_found = "/t, build 1";
  }

  void answer(const std::string& node, const std::string& text = kGoodAnswer, const std::string& document = kGoodDocument) const {
    std::ofstream(folder_ / (node + ".json")) << document;
    std::ofstream(folder_ / (node + ".answer")) << text;
  }

  Findings probe() {
    return probe_nodes(client_, request,
                       {[this] { return now_; },
                        [this](std::chrono::milliseconds pause) {
                          now_ += pause;
                          slept_ += pause;
                          if (at_second) at_second(std::chrono::duration_cast<std::chrono::seconds>(slept_).count());
                          return slept_ < interrupted_after;
                        }});
  }

  std::ptrdiff_t num_calls(const std::string& program) const {
    return std::count_if(client_.commands.begin(), client_.commands.end(),
                         [&](const std::string& call) { return call.starts_with(program); });
  }
  bool is_clean() const { return fs::is_empty(root_.path()); }

  ProbeRequest request;
  std::string state = "PENDING";
  std::string reason = "Priority";
  int exit_code = 0;
  std::function<Answer()> at_submission;
  std::function<void(std::int64_t)> at_second;
  std::chrono::milliseconds interrupted_after{1'000'000'000};

 private:
  tests::TempDir root_;
  ScriptedClient client_;
  fs::path folder_;
  std::chrono::steady_clock::time_point now_;
  std::chrono::milliseconds slept_{0};
};

TEST(ProbeNodes, SaysThatJobsWorkWhenEveryNodeAnsweredAndLeavesNothing) {
  Queue queue;
  queue.request.num_nodes = 2;
  queue.at_second = [&queue](std::int64_t second) {
    if (second == 3) queue.answer("n1");
    if (second == 7) queue.answer("n2");
  };
  const Findings findings = queue.probe();
  ASSERT_EQ(findings.size(), 3U);
  for (const Finding& finding : findings) EXPECT_EQ(finding.state, State::kOk) << finding.name << ": " << finding.found;
  EXPECT_EQ(findings[0].found, "job 7, nodes: 2, answered after 7 s: jobs work here");
  EXPECT_EQ(findings[2].name, "node_n2");
  EXPECT_EQ(queue.num_calls("squeue"), 1) << "every five seconds";
  EXPECT_EQ(queue.num_calls("scancel"), 0);
  EXPECT_TRUE(queue.is_clean());
}

TEST(ProbeNodes, CancelsByNameAJobThatDoesNotAnswerInTime) {
  Queue queue;
  const Findings findings = queue.probe();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].state, State::kWarning);
  EXPECT_NE(findings[0].found.find("it was PENDING (Priority); cancelled"), std::string::npos) << findings[0].found;
  EXPECT_EQ(queue.num_calls("scancel"), 1);
  EXPECT_LE(queue.num_calls("squeue"), 120 / 5);
  EXPECT_TRUE(queue.is_clean());
}

TEST(ProbeNodes, CancelsWhenTheUserInterrupts) {
  Queue queue;
  queue.interrupted_after = std::chrono::seconds(1);
  EXPECT_NE(queue.probe()[0].found.find("interrupted"), std::string::npos);
  EXPECT_EQ(queue.num_calls("scancel"), 1);
}

TEST(ProbeNodes, UnderstandsAJobThatCouldNotSayMoreThanAnExitCode) {
  const std::pair<int, const char*> cases[] = {
      {kFolderNotSeen, "does not see"}, {kFolderNotWritable, "cannot write"}, {0, "left no answer"}};
  for (const auto& [code, words] : cases) {
    Queue queue;
    queue.state = code == 0 ? "COMPLETED" : "FAILED";
    queue.exit_code = code;
    const Findings findings = queue.probe();
    EXPECT_EQ(findings[0].state, State::kProblem);
    EXPECT_NE(findings[0].found.find(words), std::string::npos) << findings[0].found;
    EXPECT_EQ(queue.num_calls("squeue"), 1);
  }
}

TEST(ProbeNodes, WaitsForFilesThatComeLaterThanTheEndOfTheirJob) {
  Queue queue;
  queue.state = "COMPLETED";
  queue.at_second = [&queue](std::int64_t second) {
    if (second == 20) queue.answer("n1");
  };
  EXPECT_EQ(queue.probe()[0].state, State::kOk);
}

TEST(ProbeNodes, ShowsSlurmsOwnWordsOfARefusalAndCancelsWhatMayHaveBeenSubmitted) {
  Queue queue;
  queue.at_submission = [] { return Answer{1, "", "sbatch: error: Batch job submission failed: Invalid account\n"}; };
  const Findings findings = queue.probe();
  EXPECT_EQ(findings[0].state, State::kProblem);
  EXPECT_EQ(findings[0].found, "sbatch: error: Batch job submission failed: Invalid account");
  EXPECT_EQ(queue.num_calls("scancel"), 0) << "nothing was submitted";
  EXPECT_TRUE(queue.is_clean());

  ScriptedClient deaf;
  EXPECT_EQ(probe_nodes(deaf, queue.request, {[] { return std::chrono::steady_clock::time_point(); }, [](auto) { return true; }})[0].state,
            State::kProblem);
  EXPECT_TRUE(deaf.commands.back().starts_with("scancel")) << deaf.commands.back();
}

TEST(JudgeNode, NamesWhatIsWrongOnANode) {
  Queue queue;
  const auto judged = [&queue](const std::string& answer, const std::string& document) {
    return judge_node("n1", answer, document, queue.request);
  };
  EXPECT_EQ(judged(kGoodAnswer, kGoodDocument).state, State::kOk) << "a lock held there is the affair of this machine";
  const std::pair<Finding, const char*> bad[] = {
      {judged("temporary=/tmp on xfs\ncode=127\nerror=/rematch: not found\n", ""), "ended there with 127: /rematch: not found"},
      {judged("code=0\nerror=mktemp: Read-only file system\n", kGoodDocument), "no temporary folder can be made there: mktemp"},
      {judged(kGoodAnswer, R"({"findings":[{"name":"trainer","state":"problem","found":"no file /t"}]})"), "trainer: no file /t"},
      {judged(kGoodAnswer, R"({"findings":[{"name":"trainer","state":"ok","found":"/t, build 2"}]})"), "build 2; here it is /t, build 1"}};
  for (const auto& [finding, words] : bad) {
    EXPECT_EQ(finding.state, State::kProblem);
    EXPECT_NE(finding.found.find(words), std::string::npos) << finding.found;
    EXPECT_FALSE(finding.advice.empty());
  }
}

}  // namespace
}  // namespace rematch::doctor

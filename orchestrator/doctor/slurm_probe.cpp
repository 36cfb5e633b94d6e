#include "orchestrator/doctor/slurm_probe.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>

#include "orchestrator/base/random_hex.h"
#include "orchestrator/doctor/probe_script.h"
#include "orchestrator/slurm/job_table.h"
#include "schemas/protocol/record_file.h"

namespace rematch::doctor {

namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLook{200};   // at the answers
constexpr seconds kAsk{5};           // between two questions to Slurm
constexpr seconds kFilesMayLag{30};  // behind the end of a job, on a network file system
constexpr const char* kLongQueue = "The queue may be long: try again, with --partition of one that is not, or with a longer --wait";
constexpr const char* kWanted = "a job of one minute that runs on as many nodes as asked for";

// The probe's files in the workspace. What was not there before is gone afterwards.
class ProbeFolder {
 public:
  ProbeFolder(const fs::path& workspace, const std::string& name) : path_(workspace / name) {
    for (fs::path folder = workspace; !fs::exists(folder) && folder.has_relative_path(); folder = folder.parent_path())
      made_.push_back(folder);
    fs::create_directories(path_);
  }
  ~ProbeFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
    for (const fs::path& folder : made_) fs::remove(folder, none);  // only when it is empty
  }
  ProbeFolder(const ProbeFolder&) = delete;
  ProbeFolder& operator=(const ProbeFolder&) = delete;

  const fs::path& path() const { return path_; }
  std::map<std::string, std::string> answers() const {  // by node
    std::map<std::string, std::string> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(path_, none))
      if (entry.path().extension() == ".answer") found[entry.path().stem()] = protocol::read_whole_file(entry.path()).value_or("");
    return found;
  }

 private:
  fs::path path_;
  std::vector<fs::path> made_;
};

bool says_why(const slurm::JobRow& row) { return row.exit_code == kFolderNotSeen || row.exit_code == kFolderNotWritable; }

class Probe {
 public:
  Probe(slurm::Client& client, const ProbeRequest& request, const ProbeClock& clock)
      : client_(client),
        request_(request),
        clock_(clock),
        name_("rematch-doctor-" + base::random_hex(12)),
        folder_(request.workspace, name_) {}

  Findings run() {
    protocol::write_file_by_rename(folder_.path() / kSentFile, name_);
    protocol::write_file_by_rename(folder_.path() / "node.sh", probe_node_script(request_, folder_.path(), name_));
    protocol::write_file_by_rename(folder_.path() / "job.sh", probe_batch_script(request_, folder_.path()));
    start_ = clock_.now();
    if (!submit()) return {job_};
    wait();
    Findings findings{job_};
    for (const auto& [node, answer] : folder_.answers())
      findings.push_back(judge_node(node, answer, protocol::read_whole_file(folder_.path() / (node + ".json")).value_or(""), request_));
    const bool all_good = std::all_of(findings.begin(), findings.end(), [](const Finding& finding) { return finding.state == State::kOk; });
    if (all_good) findings.front().found += ": jobs work here";
    return findings;
  }

 private:
  void end_badly(State state, const std::string& found, const std::string& advice) {
    job_.state = state;
    job_.found = found;
    job_.advice = advice;
  }

  bool submit() {
    const std::string nodes = std::to_string(request_.num_nodes);
    std::vector<std::string> command{"sbatch",       "--parsable",         "--job-name=" + name_,
                                     "--time=1",     "--nodes=" + nodes,   "--ntasks=" + nodes,
                                     "--no-requeue", "--output=/dev/null", "--chdir=/"};
    command.insert(command.end(), request_.options.begin(), request_.options.end());
    command.push_back((folder_.path() / "job.sh").string());
    const auto answer = client_.call(command, slurm::kClientDeadline);
    if (answer && answer.value().exit_code == 0) {
      job_id_ = answer.value().out.substr(0, answer.value().out.find_first_of(";\n"));
      return true;
    }
    if (!answer) cancel();  // it may have been submitted
    end_badly(State::kProblem, answer ? answer.value().error : answer.error().message,
              "See there; partition and account may have to be named");
    while (job_.found.ends_with('\n')) job_.found.pop_back();
    return false;
  }

  void cancel() { client_.call({"scancel", "-u", std::to_string(::getuid()), "-n", name_}, slurm::kClientDeadline); }

  bool all_answered() const { return static_cast<std::int64_t>(folder_.answers().size()) >= request_.num_nodes; }

  // nullopt: Slurm did not say.
  std::optional<slurm::JobRow> ask() {
    const auto answer = client_.call(slurm::squeue_command(static_cast<std::int64_t>(::getuid()), {name_}), slurm::kClientDeadline);
    if (!answer || answer.value().exit_code != 0) return std::nullopt;
    for (slurm::JobRow& row : slurm::parse_squeue(answer.value().out))
      if (row.name == name_) return std::move(row);
    return std::nullopt;
  }

  void wait() {
    auto next_question = start_ + kAsk;
    auto until = start_ + request_.deadline;
    while (!all_answered()) {
      if (!clock_.sleep(kLook)) return give_up("interrupted", "Try again");
      const auto now = clock_.now();
      if (now >= until) return ended_ ? end_without_answer() : give_up("no answer within the deadline", kLongQueue);
      if (ended_ || now < next_question) continue;
      next_question = now + kAsk;
      if (auto row = ask()) last_ = std::move(row);
      if (!last_ || slurm::is_active(last_->state)) continue;
      ended_ = true;
      until = says_why(*last_) ? now : now + kFilesMayLag;
    }
    const auto took = std::chrono::duration_cast<seconds>(clock_.now() - start_).count();
    job_.found = "job " + job_id_ + ", nodes: " + std::to_string(request_.num_nodes) + ", answered after " + std::to_string(took) + " s";
  }

  void give_up(const std::string& why, const std::string& advice) {
    cancel();
    const std::string was = last_ ? ", it was " + last_->state_text + " (" + last_->reason + ")" : "";
    end_badly(State::kWarning, "job " + job_id_ + ": " + why + was + "; cancelled", advice);
  }

  void end_without_answer() {
    const std::string job = "job " + job_id_ + " ended as " + last_->state_text;
    if (last_->exit_code == kFolderNotSeen)
      return end_badly(State::kProblem, job + ": the node does not see " + request_.workspace.string(),
                       "Put the workspace on a file system that every node mounts");
    if (last_->exit_code == kFolderNotWritable)
      return end_badly(State::kProblem, job + ": the node cannot write in " + request_.workspace.string(),
                       "See to its permissions, or choose another with --workspace");
    end_badly(State::kProblem,
              job + " with " + std::to_string(last_->exit_code.value_or(0)) + " and left no answer of " +
                  std::to_string(request_.num_nodes) + " nodes",
              "See that a compute node sees the workspace, and writes there where this machine reads");
  }

  slurm::Client& client_;
  const ProbeRequest& request_;
  const ProbeClock& clock_;
  const std::string name_;
  ProbeFolder folder_;
  std::chrono::steady_clock::time_point start_;
  std::string job_id_;
  std::optional<slurm::JobRow> last_;
  bool ended_ = false;
  Finding job_{"slurm_probe", State::kOk, kWanted, "", ""};
};

}  // namespace

Findings probe_nodes(slurm::Client& client, const ProbeRequest& request, const ProbeClock& clock) {
  return Probe(client, request, clock).run();
}

}  // namespace rematch::doctor

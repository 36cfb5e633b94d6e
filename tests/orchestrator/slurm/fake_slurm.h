// A Slurm that lives in memory: jobs with states that a test sets, behind the clients' texts. Counts the calls of each client and when they
// came. And a clock that moves when somebody waits.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "orchestrator/slurm/client.h"
#include "orchestrator/slurm/surroundings.h"

namespace rematch::tests {

class FakeSlurm final : public slurm::Client {
 public:
  struct Job {
    std::int64_t id = 0;
    std::string name;
    std::optional<std::int64_t> element;
    std::string state = "PENDING";
    std::string reason = "Priority";
    std::string nodes;
    int status = 0;  // as wait() has it
  };

  using Time = std::chrono::steady_clock::time_point;
  // What sbatch does the next times: as it is written, or once for each entry.
  enum class Sbatch { kAccepts, kRefuses, kIsDeaf, kTakesAndIsDeaf };

  std::vector<Job> jobs;
  std::vector<Sbatch> sbatch_next;
  bool answers = true;  // squeue, sacct and scancel
  bool has_accounting = false;
  std::vector<Job> accounted;                // what sacct knows besides
  std::string scancel_leaves = "CANCELLED";  // the state of what it ended
  std::int64_t most_elements = 1001;
  std::int64_t next_id = 17;
  Time now{std::chrono::hours(1)};
  std::function<void()> on_pause = [] {};  // the world goes on
  bool is_told_to_stop = false;

  std::map<std::string, int> num_calls;
  std::vector<Time> call_times;  // of all but sbatch

  base::Result<slurm::Answer> call(const std::vector<std::string>& command, std::chrono::milliseconds) override {
    const std::string& program = command.front();
    ++num_calls[program];
    if (program != "sbatch") call_times.push_back(now);
    if (program == "sbatch") return sbatch(command);
    if (!answers) return slurm::Answer{1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n"};
    if (program == "squeue") return slurm::Answer{0, squeue_text(), ""};
    if (program == "sacct") return sacct();
    if (program == "scancel") return scancel(command);
    if (program == "scontrol") return slurm::Answer{0, "MaxArraySize            = " + std::to_string(most_elements) + "\n", ""};
    return base::Error{"no such program: " + program};
  }

  slurm::Surroundings surroundings() {
    return {*this, 1000, [this] { return now; },
            [this](std::chrono::milliseconds duration) {
              now += duration;
              on_pause();
            },
            [this] { return is_told_to_stop; }};
  }

  // Every job of that name.
  void set(const std::string& name, const std::string& state, const std::string& reason = "", const std::string& nodes = "") {
    for (Job& job : jobs)
      if (job.name == name) job.state = state, job.reason = reason, job.nodes = nodes;
  }

  int num_client_calls() const {
    int total = 0;
    for (const auto& [program, num] : num_calls) total += num;
    return total;
  }

  // Most calls, sbatch aside, in any minute.
  std::size_t most_calls_a_minute() const {
    std::size_t most = 0;
    for (const Time begin : call_times)
      most = std::max(most, static_cast<std::size_t>(std::count_if(call_times.begin(), call_times.end(), [&](Time call) {
                        return call >= begin && call - begin < std::chrono::minutes(1);
                      })));
    return most;
  }

  std::set<std::string> cancelled;  // what scancel was given: a name, or an id

 private:
  static std::string option(const std::vector<std::string>& command, const std::string& prefix) {
    for (const std::string& word : command)
      if (word.starts_with(prefix)) return word.substr(prefix.size());
    return "";
  }

  base::Result<slurm::Answer> sbatch(const std::vector<std::string>& command) {
    Sbatch what = Sbatch::kAccepts;
    if (!sbatch_next.empty()) {
      what = sbatch_next.front();
      sbatch_next.erase(sbatch_next.begin());
    }
    if (what == Sbatch::kRefuses)
      return slurm::Answer{1, "",
                           "sbatch: error: invalid partition specified: nope\nsbatch: error: Batch job submission failed: Invalid "
                           "partition name specified\n"};
    if (what == Sbatch::kIsDeaf) return base::Error{"sbatch gave no answer within 30 s"};
    const std::int64_t id = next_id++;
    add_jobs(id, option(command, "--job-name="), option(command, "--array="));
    if (what == Sbatch::kTakesAndIsDeaf) return base::Error{"sbatch gave no answer within 30 s"};
    return slurm::Answer{0, std::to_string(id) + ";lab\n", ""};
  }

  void add_jobs(std::int64_t id, const std::string& name, const std::string& array) {
    if (array.empty()) {
      jobs.push_back({id, name, std::nullopt});
      return;
    }
    const std::int64_t last = std::stoll(array.substr(array.find('-') + 1));
    for (std::int64_t i = 0; i <= last; ++i) jobs.push_back({id, name, i});
  }

  std::string squeue_text() const {
    std::string text;
    for (const Job& job : jobs)
      text += std::to_string(job.id) + "|" + std::to_string(job.id) + "|" + (job.element ? std::to_string(*job.element) : "N/A") + "|" +
              job.state + "|" + job.reason + "|" + std::to_string(job.status) + "|0|" + job.nodes + "|2026-11-30T07:30:47|N/A|N/A|" +
              job.name + "|\n";
    return text;
  }

  base::Result<slurm::Answer> sacct() const {
    if (!has_accounting) return slurm::Answer{1, "", "Slurm accounting storage is disabled\n"};
    std::string text;
    for (const Job& job : accounted)
      text += std::to_string(job.id) + "|" + std::to_string(job.id) + (job.element ? "_" + std::to_string(*job.element) : "") + "|" +
              job.name + "|" + job.state + "|0:0|a|b|c|n1\n";
    return slurm::Answer{0, text, ""};
  }

  base::Result<slurm::Answer> scancel(const std::vector<std::string>& command) {
    const auto named = std::find(command.begin(), command.end(), "-n");
    const std::string target = named == command.end() ? command.back() : *std::next(named);
    cancelled.insert(target);
    const bool only_pending = std::find(command.begin(), command.end(), "PENDING") != command.end();
    for (Job& job : jobs) {
      if (only_pending && job.state != "PENDING") continue;
      const std::string id = std::to_string(job.id) + (job.element ? "_" + std::to_string(*job.element) : "");
      if (job.name == target || id == target) job.state = scancel_leaves, job.reason = "None";
    }
    return slurm::Answer{0, "", ""};
  }
};

}  // namespace rematch::tests

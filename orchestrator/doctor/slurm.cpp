#include "orchestrator/doctor/slurm.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>

namespace rematch::doctor {

namespace {

using slurm::Client;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

void add_to_list(std::string& list, const std::string& word) { list += (list.empty() ? "" : ", ") + word; }

struct Program {
  const char* name;
  State without;
};
constexpr std::array<Program, 7> kPrograms = {{{"sbatch", State::kProblem},
                                               {"squeue", State::kProblem},
                                               {"scancel", State::kProblem},
                                               {"scontrol", State::kProblem},
                                               {"srun", State::kWarning},
                                               {"sinfo", State::kWarning},
                                               {"sacct", State::kWarning}}};

Finding programs(Client& client) {
  Finding finding{"slurm_programs", State::kOk, "sbatch, squeue, scancel, scontrol; srun, sinfo and sacct too, all of one version", "", ""};
  std::map<std::string, std::string> by_version;
  std::string missing;
  std::string reason;  // of the first that is missing
  for (const Program& program : kPrograms) {
    const auto answer = client.call({program.name, "--version"}, slurm::kClientDeadline);
    if (answer && answer.value().exit_code == 0) {
      add_to_list(by_version[first_line(answer.value().out)], program.name);
      continue;
    }
    if (missing.empty()) reason = answer ? first_line(answer.value().error) : answer.error().message;
    add_to_list(missing, program.name);
    finding.state = std::max(finding.state, program.without);
  }
  for (const auto& [version, names] : by_version) add_to_list(finding.found, version + " (" + names + ")");
  if (!missing.empty()) add_to_list(finding.found, "not of use: " + missing + " (" + reason + ")");
  if (!missing.empty())
    finding.advice = "Put Slurm's client programs on PATH, let SLURM_CONF name the cluster, or work on one of its login nodes";
  if (!missing.empty() || by_version.size() == 1) return finding;
  finding.state = State::kWarning;
  finding.advice = "Let PATH lead to one installation of Slurm";
  return finding;
}

Finding controller(const base::Result<slurm::ClusterConfig>& config) {
  Finding finding{"slurm_controller", State::kOk, "an answer to scontrol show config", "", ""};
  if (config) {
    finding.found = "cluster " + config.value().text("ClusterName").value_or("(name not told)") + ", Slurm " +
                    config.value().text("SLURM_VERSION").value_or("(version not told)");
    return finding;
  }
  finding.state = State::kProblem;
  finding.found = config.error().message;
  finding.advice = "See that slurmctld runs and that SLURM_CONF names its cluster; the other questions to Slurm were not asked";
  return finding;
}

struct Accounting {
  Finding finding;
  bool works = false;
};

Accounting accounting(Client& client) {
  Accounting result{{"slurm_accounting", State::kOk, "sacct answers, so that the end of a job is known at any time after it", "", ""}};
  const auto answer = client.call({"sacct", "-X", "-n", "-P", "-j", "1", "-o", "JobIDRaw"}, slurm::kClientDeadline);
  result.works = answer && answer.value().exit_code == 0;
  result.finding.found = result.works ? "sacct answers" : !answer ? answer.error().message : first_line(answer.value().error);
  if (result.works) return result;
  result.finding.state = State::kWarning;
  result.finding.advice = "Nothing need be done: how a job ended is then known for MinJobAge only, and the study's files tell the rest";
  return result;
}

std::string unmarked(const std::string& name) { return name.ends_with('*') ? name.substr(0, name.size() - 1) : name; }

// A row of sinfo: name (the default's with a star), up or not, longest and default time limit, nodes.
struct Partition {
  std::string name;
  bool is_default = false;
  bool is_up = false;
  std::string text;
};

std::vector<Partition> parse_partitions(const std::string& shown) {
  std::vector<Partition> partitions;
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    std::array<std::string, 5> column;
    std::istringstream words(line);
    for (std::string& word : column) std::getline(words, word, '|');
    if (column[4].empty()) continue;
    const std::string name = unmarked(column[0]);
    partitions.push_back(
        {name, name != column[0], column[1] == "up",
         name + " (" + column[1] + ", time limit " + column[2] + ", by default " + column[3] + ", nodes: " + column[4] + ")"});
  }
  return partitions;
}

Finding partitions(Client& client, const std::string& wanted) {
  Finding finding{"slurm_partitions", State::kOk, wanted.empty() ? "a default partition that is up" : "the partition " + wanted + ", up",
                  "", ""};
  const auto answer = client.call({"sinfo", "-h", "-o", "%P|%a|%l|%L|%D"}, slurm::kClientDeadline);
  if (!answer || answer.value().exit_code != 0) {
    finding.state = State::kWarning;
    finding.found = !answer ? answer.error().message : "sinfo: " + first_line(answer.value().error);
    finding.advice = "Ask again; whether the partition is there shows when a study is submitted";
    return finding;
  }
  const auto all = parse_partitions(answer.value().out);
  for (const Partition& partition : all) add_to_list(finding.found, partition.text);
  if (all.empty()) finding.found = "none that this user may see";
  const auto chosen = std::find_if(
      all.begin(), all.end(), [&](const Partition& partition) { return wanted.empty() ? partition.is_default : partition.name == wanted; });
  if (chosen != all.end() && chosen->is_up) return finding;
  finding.state = wanted.empty() && chosen == all.end() ? State::kWarning : State::kProblem;
  finding.advice = chosen != all.end() ? "It takes jobs and starts none; name another with launch.partition or --partition"
                                       : "Name one of these with launch.partition or --partition";
  return finding;
}

}  // namespace

Findings examine_slurm(Client& client, const ClusterPlace& place) {
  Findings findings{programs(client)};
  if (findings.front().state == State::kProblem) return findings;
  const auto config = slurm::read_cluster_config(client);
  findings.push_back(controller(config));
  if (!config) return findings;
  const Accounting known = accounting(client);
  for (Finding& finding : examine_cluster_config(config.value(), known.works)) findings.push_back(std::move(finding));
  findings.push_back(known.finding);
  findings.push_back(partitions(client, place.partition));
  for (Finding& finding : examine_cluster_place(place)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace rematch::doctor

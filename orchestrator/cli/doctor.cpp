// `rematch doctor`: what of this machine, the workspace, the trainer and the cluster would stop a run, or may make it go wrong.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orchestrator/cli/until_interrupted.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/doctor/machine.h"
#include "orchestrator/doctor/slurm.h"
#include "orchestrator/doctor/slurm_probe.h"
#include "orchestrator/doctor/trainer.h"
#include "orchestrator/doctor/workspace.h"
#include "orchestrator/launch/trainer.h"

namespace rematch::cli {

namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::State;

constexpr int kDoctorSchemaVersion = 1;

void append(Findings& all, Findings more) { all.insert(all.end(), more.begin(), more.end()); }

std::ptrdiff_t num_in(const Findings& findings, State state) {
  return std::count_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.state == state; });
}

void print_text(const Findings& findings, std::ostream& out) {
  for (const Finding& finding : findings) {
    std::string state = doctor::to_string(finding.state);
    state.resize(7, ' ');
    const bool is_well = finding.state == State::kOk;
    out << state << "  " << (is_well ? finding.name : base::with_id(doctor::warning_of(finding), finding.name)) << ": " << finding.found
        << "\n";
    if (is_well) continue;
    out << "         wanted: " << finding.wanted << "\n         do: " << finding.advice << "\n";
  }
  out << findings.size() << " looked at: " << num_in(findings, State::kProblem) << " problems, " << num_in(findings, State::kWarning)
      << " warnings\n";
}

nlohmann::json to_json(const Findings& findings) {
  nlohmann::json document{{"schema_version", kDoctorSchemaVersion},
                          {"num_problems", num_in(findings, State::kProblem)},
                          {"num_warnings", num_in(findings, State::kWarning)},
                          {"findings", nlohmann::json::array()}};
  for (const Finding& finding : findings) {
    nlohmann::json& entry = document["findings"].emplace_back();
    entry = {{"name", finding.name}, {"state", doctor::to_string(finding.state)}, {"wanted", finding.wanted}, {"found", finding.found}};
    entry["id"] = finding.state == State::kOk ? nlohmann::json(nullptr) : base::warning_page(doctor::warning_of(finding)).name;
    entry["advice"] = finding.advice.empty() ? nlohmann::json(nullptr) : nlohmann::json(finding.advice);
  }
  return document;
}

std::vector<std::string> names_of_variables() {
  std::vector<std::string> names;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    names.push_back(text.substr(0, text.find('=')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

doctor::ClusterPlace cluster_place(const GlobalOptions& options, const std::string& partition) {
  doctor::ClusterPlace place{options.workspace, std::nullopt, partition, names_of_variables()};
  if (const auto trainer = launch::locate_trainer(options.trainer)) place.trainer = trainer.value();
  return place;
}

struct SlurmQuestions {
  bool asked = false;
  bool probe = false;
  std::string partition;
  std::string account;
  std::string qos;
  std::int64_t num_nodes = 1;
  std::int64_t wait_s = 120;
};

doctor::ProbeRequest probe_request(const GlobalOptions& options, const SlurmQuestions& questions) {
  doctor::ProbeRequest request;
  request.rematch = std::filesystem::canonical("/proc/self/exe");
  request.workspace = std::filesystem::absolute(options.workspace);
  if (const auto trainer = launch::locate_trainer(options.trainer)) request.trainer = std::filesystem::absolute(trainer.value());
  request.trainer_found = doctor::examine_trainer(request.trainer).front().found;  // by the path that the node gets
  if (!questions.partition.empty()) request.options.push_back("--partition=" + questions.partition);
  if (!questions.account.empty()) request.options.push_back("--account=" + questions.account);
  if (!questions.qos.empty()) request.options.push_back("--qos=" + questions.qos);
  request.num_nodes = questions.num_nodes;
  request.deadline = std::chrono::seconds(questions.wait_s);
  return request;
}

// Nothing is submitted where something is known to stop a study.
Findings examine_cluster(const GlobalOptions& options, const SlurmQuestions& questions, const Findings& so_far) {
  const auto client = slurm::make_client();
  Findings findings = doctor::examine_slurm(*client, cluster_place(options, questions.partition));
  if (!questions.probe) return findings;
  const std::ptrdiff_t num_problems = num_in(so_far, State::kProblem) + num_in(findings, State::kProblem);
  if (num_problems > 0) {
    findings.push_back({"slurm_probe", State::kWarning, "no problem before a job is submitted",
                        "nothing was submitted: problems above: " + std::to_string(num_problems), "Mend them, then probe again"});
    return findings;
  }
  UntilInterrupted until;
  append(findings,
         doctor::probe_nodes(*client, probe_request(options, questions),
                             {[] { return std::chrono::steady_clock::now(); }, [&until](auto pause) { return until.wait(pause); }}));
  return findings;
}

class DoctorVerb final : public Verb {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override {
    return "Look for what would stop a run: trainer, limits, ports, clocks, disk, database, processes";
  }

  void declare(CLI::App& app) override {
    app.add_flag("--json", as_json_, "Print one JSON document");
    declare_slurm(app);
    app.footer(
        "Examples:\n"
        "  rematch doctor\n"
        "  rematch doctor --slurm --partition gpu\n"
        "  rematch doctor --slurm --probe --nodes 2\n"
        "  rematch doctor --workspace /scratch/runs\n"
        "  rematch doctor --trainer build/release/bin/rematch-train --json\n"
        "It looks only: no lock is taken, nothing is written, and the trainer is asked to describe itself. --probe alone does more: it\n"
        "submits a job of a minute and removes what it wrote.\n"
        "Exit: 0 a run can start (warnings included), 8 something would stop it.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    Findings findings = doctor::examine_trainer(options.trainer);
    append(findings, doctor::examine_machine());
    append(findings, doctor::examine_limits());
    append(findings, doctor::examine_workspace(options.workspace));
    if (slurm_.asked) append(findings, examine_cluster(options, slurm_, findings));
    if (as_json_)
      streams.out << to_json(findings).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    else
      print_text(findings, streams.out);
    return num_in(findings, State::kProblem) == 0 ? Exit::kOk : Exit::kEnvironment;
  }

 private:
  void declare_slurm(CLI::App& app) {
    auto* slurm =
        app.add_flag("--slurm", slurm_.asked, "Look at the Slurm cluster as well: programs, controller, limits, accounting, partitions");
    auto* probe =
        app.add_flag("--probe", slurm_.probe, "With --slurm: submit a job of a minute, and say whether jobs work here")->needs(slurm);
    app.add_option("--partition", slurm_.partition, "With --slurm: the partition that is meant")->needs(slurm);
    app.add_option("--account", slurm_.account, "With --probe: the account of its job")->needs(probe);
    app.add_option("--qos", slurm_.qos, "With --probe: the quality of service of its job")->needs(probe);
    app.add_option("--nodes", slurm_.num_nodes, "With --probe: how many nodes to ask")
        ->check(CLI::Range(1, 100'000))
        ->needs(probe)
        ->capture_default_str();
    app.add_option("--wait", slurm_.wait_s, "With --probe: seconds until the last answer")
        ->check(CLI::Range(10, 86'400))
        ->needs(probe)
        ->capture_default_str();
  }

  bool as_json_ = false;
  SlurmQuestions slurm_;
};

const VerbRegistrar<DoctorVerb> registrar;

}  // namespace

}  // namespace rematch::cli

// `rematch doctor`: what of this machine, the workspace, the trainer and the cluster would stop a run, or may make it go wrong.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orchestrator/cli/verb.h"
#include "orchestrator/doctor/machine.h"
#include "orchestrator/doctor/slurm.h"
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
    out << state << "  " << finding.name << ": " << finding.found << "\n";
    if (finding.state == State::kOk) continue;
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

class DoctorVerb final : public Verb {
 public:
  std::string name() const override { return "doctor"; }
  std::string summary() const override {
    return "Look for what would stop a run: trainer, limits, ports, clocks, disk, database, processes";
  }

  void declare(CLI::App& app) override {
    app.add_flag("--json", as_json_, "Print one JSON document");
    auto* slurm =
        app.add_flag("--slurm", slurm_, "Look at the Slurm cluster as well: programs, controller, limits, accounting, partitions");
    app.add_option("--partition", partition_, "With --slurm: the partition that is meant")->needs(slurm);
    app.footer(
        "Examples:\n"
        "  rematch doctor\n"
        "  rematch doctor --slurm --partition gpu\n"
        "  rematch doctor --workspace /scratch/runs\n"
        "  rematch doctor --trainer build/release/bin/rematch-train --json\n"
        "It looks only: no lock is taken, nothing is written, and the trainer is asked to describe itself.\n"
        "Exit: 0 a run can start (warnings included), 8 something would stop it.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    Findings findings = doctor::examine_trainer(options.trainer);
    append(findings, doctor::examine_machine());
    append(findings, doctor::examine_limits());
    append(findings, doctor::examine_workspace(options.workspace));
    if (slurm_) append(findings, doctor::examine_slurm(*slurm::make_client(), cluster_place(options, partition_)));
    if (as_json_)
      streams.out << to_json(findings).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
    else
      print_text(findings, streams.out);
    return num_in(findings, State::kProblem) == 0 ? Exit::kOk : Exit::kEnvironment;
  }

 private:
  bool as_json_ = false;
  bool slurm_ = false;
  std::string partition_;
};

const VerbRegistrar<DoctorVerb> registrar;

}  // namespace

}  // namespace rematch::cli

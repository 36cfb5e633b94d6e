#include "orchestrator/cli/gate_option.h"

#include <CLI/CLI.hpp>
#include <ostream>

namespace rematch::cli {

void GateOption::declare(CLI::App& app, rules::GateUse use) {
  use_ = use;
  const std::string examples = use == rules::GateUse::kComparison ? "regression>2%, peak_allocated>100MB, outcome, undecided"
                                                                  : "peak_allocated>40GB, margin<2GB, drift, aa_difference>3%";
  app.add_option("--fail-on", expressions_, "Exit with 9 when this holds: " + examples + "; several may be given")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::variant<std::vector<rules::Gate>, Exit> GateOption::load(Streams streams) const {
  std::vector<rules::Gate> gates;
  for (const std::string& expression : expressions_) {
    base::Result<rules::Gate> gate = rules::parse_gate(expression, use_);
    if (!gate) {
      streams.err << "rematch: " << gate.error().message << "\n";
      return Exit::kUsage;
    }
    gates.push_back(std::move(gate).value());
  }
  return gates;
}

Exit exit_of_gates(const std::vector<rules::GateFinding>& findings, Exit otherwise, Streams streams) {
  Exit exit = otherwise;
  for (const rules::GateFinding& finding : findings) {
    const bool fired = finding.state == rules::GateState::kFired;
    streams.err << "rematch: " << finding.message << (fired ? "; it fired" : "") << "\n";
    if (fired && exit == Exit::kOk) exit = Exit::kGateFired;
  }
  return exit;
}

}  // namespace rematch::cli

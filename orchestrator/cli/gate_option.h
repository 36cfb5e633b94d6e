// The option --fail-on EXPR of compare, report and run, and what gates do to the exit code.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "orchestrator/cli/verb.h"
#include "orchestrator/rules/gate.h"

namespace rematch::cli {

class GateOption {
 public:
  void declare(CLI::App& app, rules::GateUse use);
  // kUsage, with the reason on streams.err, on one that cannot be read.
  std::variant<std::vector<rules::Gate>, Exit> load(Streams streams) const;

 private:
  std::vector<std::string> expressions_;
  rules::GateUse use_ = rules::GateUse::kComparison;
};

// Prints what fired and what is undecided; kGateFired where something fired and `otherwise` is kOk, else `otherwise`.
Exit exit_of_gates(const std::vector<rules::GateFinding>& findings, Exit otherwise, Streams streams);

}  // namespace rematch::cli

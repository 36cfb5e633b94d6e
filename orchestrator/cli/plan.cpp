// `rematch plan SWEEP`: what `run` would do, and what it would cost. Starts nothing.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "orchestrator/cli/control_peak.h"
#include "orchestrator/cli/plan_text.h"
#include "orchestrator/cli/sweep_input.h"
#include "orchestrator/cli/verb.h"

namespace rematch::cli {

namespace {

class PlanVerb : public Verb {
 public:
  std::string name() const override { return "plan"; }
  std::string summary() const override { return "Check a sweep file and show its arms, their order and the cost; start nothing"; }

  void declare(CLI::App& app) override {
    arguments_.declare(app);
    app.add_flag("--origin", show_origin_, "Show where each value came from");
    app.add_flag("--json", as_json_, "Print one JSON document");
    app.footer(
        "Examples:\n"
        "  rematch plan sweeps/first.yaml\n"
        "  rematch plan sweeps/first.yaml --set measure.blocks=5 --set 'recompute.sets=layernorm+moe_act;mla_up_proj+mlp'\n"
        "  rematch plan sweeps/first.yaml --set recompute.full=uniform:1,block:2\n"
        "  rematch plan sweeps/first.yaml --origin\n"
        "Once the workspace has a run of the control, each arm shows how much it can lower the peak at most.\n"
        "Exit: 0 the sweep can run, 2 usage, 3 the sweep is refused, 8 no trainer that can be asked.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto loaded = load_sweep(arguments_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    const auto& input = std::get<SweepInput>(loaded);
    const auto control = find_control_peak(input.plan, options, streams);
    if (as_json_) {
      streams.out << plan_json(input, control).dump(2) << "\n";
      return Exit::kOk;
    }
    streams.out << plan_text(input, control);
    if (show_origin_) streams.out << "\norigin of each value\n" << origin_text(input);
    return Exit::kOk;
  }

 private:
  SweepArguments arguments_;
  bool show_origin_ = false;
  bool as_json_ = false;
};

const VerbRegistrar<PlanVerb> registrar;

}  // namespace

}  // namespace rematch::cli

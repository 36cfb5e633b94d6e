// `rematch plan SWEEP`: what `run` would do, and what it would cost. Starts nothing but, on request, its prediction.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orchestrator/cli/control_peak.h"
#include "orchestrator/cli/plan_text.h"
#include "orchestrator/cli/prediction.h"
#include "orchestrator/cli/slurm_preview.h"
#include "orchestrator/cli/sweep_input.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/engine/plan_change.h"
#include "orchestrator/engine/study_folder.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

class PlanVerb : public Verb {
 public:
  std::string name() const override { return "plan"; }
  std::string summary() const override { return "Check a sweep file and show its arms, their order and the cost; start nothing"; }

  void declare(CLI::App& app) override {
    arguments_.declare(app);
    app.add_flag("--predict", predict_, "Simulate the sweep first, in the workspace, and say of each arm whether it would fit");
    app.add_flag("--origin", show_origin_, "Show where each value came from");
    app.add_flag("--json", as_json_, "Print one JSON document");
    app.footer(
        "Examples:\n"
        "  rematch plan sweeps/first.yaml\n"
        "  rematch plan sweeps/first.yaml --set measure.blocks=5 --set 'recompute.sets=layernorm+moe_act;mla_up_proj+mlp'\n"
        "  rematch plan sweeps/first.yaml --set recompute.full=uniform:1,block:2\n"
        "  rematch plan sweeps/first.yaml --origin\n"
        "  rematch plan --simulate sweeps/published/moonlight_16b_8xh100.yaml --origin\n"
        "  rematch plan --predict sweeps/published/moonlight_16b_8xh100.yaml\n"
        "  rematch plan --launcher slurm --partition gpu --time 2:00:00 sweeps/slurm/first.yaml\n"
        "--simulate shows what `run --simulate` would do. --predict does it, each distinct rank once on the meta device, reusing what is "
        "done, and\n"
        "annotates the arms; it leaves none out. A sweep for a device that is not here is then planned as its simulation.\n"
        "For Slurm it shows the batch script and the command that `run` would submit it with; nothing is submitted.\n"
        "Once the workspace has a run of the control, each arm shows how much it can lower the peak at most.\n"
        "Exit: 0 the sweep can run, 2 usage, 3 the sweep is refused, 8 no trainer that can be asked, or no prediction, 75 interrupted.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto read = read_sweep(arguments_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&read)) return *exit;
    const auto& source = std::get<SweepSource>(read);
    const bool as_simulation = arguments_.simulate || (predict_ && only_lacks_device(source));
    const auto loaded = plan_sweep(source, as_simulation ? SweepUse::kSimulate : SweepUse::kRun, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    const auto& input = std::get<SweepInput>(loaded);
    PlanKnowledge known;
    if (predict_) {
      auto predicted = as_simulation ? predict(input, options, streams) : predict_sweep(source, input.warnings, options, streams);
      if (const Exit* exit = std::get_if<Exit>(&predicted)) return *exit;
      known.prediction = std::move(std::get<Prediction>(predicted));
    }
    known.control = find_control_peak(input.plan, options, streams);  // of the prediction too
    const auto folder = protocol::WorkspacePaths{options.workspace}.study(input.plan.name, input.plan.study_id);
    const auto grown = engine::StudyFolder(folder).grown_plan(input.plan);
    if (const auto change = grown ? std::nullopt : engine::plan_change(folder, input.plan)) warn(streams.err, *change);
    print(input, known, options, streams);
    return Exit::kOk;
  }

 private:
  static std::variant<Prediction, Exit> predict_sweep(const SweepSource& source, const std::vector<spec::Warning>& said_before,
                                                      const GlobalOptions& options, Streams streams) {
    std::ostringstream said;  // what said_before has is not said again
    const auto simulated = plan_sweep(source, SweepUse::kSimulate, {streams.out, said});
    if (const Exit* exit = std::get_if<Exit>(&simulated)) {
      streams.err << said.str();
      return *exit;
    }
    const auto& input = std::get<SweepInput>(simulated);
    for (const spec::Warning& warning : input.warnings) {
      const auto is_same = [&](const spec::Warning& other) { return to_string(other) == to_string(warning); };
      if (std::none_of(said_before.begin(), said_before.end(), is_same)) streams.err << "rematch: " << spec::warning_line(warning) << "\n";
    }
    return predict(input, options, streams);
  }

  void print(const SweepInput& input, const PlanKnowledge& known, const GlobalOptions& options, Streams streams) const {
    const std::optional<SlurmPreview> preview = preview_slurm(input, options);
    if (as_json_) {
      nlohmann::json document = plan_json(input, known);
      document["slurm"] = to_json(preview);
      streams.out << document.dump(2) << "\n";
      return;
    }
    streams.out << plan_text(input, known);
    if (preview) streams.out << "\n" << preview_text(*preview);
    if (show_origin_) streams.out << "\norigin of each value\n" << origin_text(input);
  }

  SweepArguments arguments_;
  bool predict_ = false;
  bool show_origin_ = false;
  bool as_json_ = false;
};

const VerbRegistrar<PlanVerb> registrar;

}  // namespace

}  // namespace rematch::cli

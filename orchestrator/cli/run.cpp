// `rematch run SWEEP`: carry the sweep out, or go on where it stopped, and print its table.
#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/cli/beside.h"
#include "orchestrator/cli/cluster_run.h"
#include "orchestrator/cli/control_peak.h"
#include "orchestrator/cli/finish_run.h"
#include "orchestrator/cli/gate_option.h"
#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/plan_text.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/slurm_preview.h"
#include "orchestrator/cli/sweep_input.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/report/format.h"

namespace rematch::cli {

namespace {

class RunVerb final : public Verb {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "Carry a sweep out, or go on where it stopped, and print its table"; }

  void declare(CLI::App& app) override {
    arguments_.declare(app);
    app.add_flag("--dry-run", dry_run_, "Show what would be run, as `plan` does, and start nothing");
    app.add_flag("--detach", detach_, "Under Slurm: submit, print name and number of the jobs and come back; run again to collect");
    published_.declare(app);
    gates_.declare(app, rules::GateUse::kStudy);
    app.add_option("-f,--format", format_, "Of the table on stdout")
        ->check(CLI::IsMember(report::accepted_format_names()))
        ->capture_default_str();
    app.footer(
        "Examples:\n"
        "  rematch run sweeps/first.yaml\n"
        "  rematch run sweeps/first.yaml --set measure.blocks=5\n"
        "  rematch run sweeps/first.yaml --dry-run\n"
        "  rematch run sweeps/slurm/first.yaml --launcher slurm --partition gpu --time 2:00:00\n"
        "  rematch run --simulate sweeps/published/moonlight_16b_8xh100.yaml\n"
        "--simulate runs each distinct rank of the layout once on the meta device: no memory, no kernels, no GPU. Its figures are "
        "predicted, its\n"
        "study is one of its own, and it concludes nothing.\n"
        "A second run starts only what is not done. SIGINT ends the trial in flight and stops; twice: at once. Under Slurm it ends\n"
        "the following and leaves the jobs alone.\n"
        "Exit: 0 usable, 3 the sweep is refused, 4 a candidate ended in an unexpected way, 5 no candidate meets the budget,\n"
        "6 the control is not a control, 7 trials ran in settings that may not be compared, or no row of the published table may be,\n"
        "8 environment, 9 else 0, and a gate of --fail-on fired, 75 interrupted: run again to go on.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto gates = gates_.load(streams);
    if (const Exit* exit = std::get_if<Exit>(&gates)) return *exit;
    const auto published = published_.load(options, streams);
    if (const Exit* exit = std::get_if<Exit>(&published)) return *exit;
    const auto loaded = load_sweep(arguments_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    const auto& input = std::get<SweepInput>(loaded);
    if (detach_ && input.spec.launch_kind != "slurm") {
      streams.err << "rematch: --detach wants a study under Slurm: add --launcher slurm; found launcher " << input.spec.launch_kind << "\n";
      return Exit::kUsage;
    }
    if (dry_run_) {
      streams.out << plan_text(input, {find_control_peak(input.plan, options, streams), std::nullopt});
      if (const auto preview = preview_slurm(input, options)) streams.out << "\n" << preview_text(*preview);
      return Exit::kOk;
    }
    const FinishOptions finish{std::get<std::optional<protocol::Published>>(published), format_,
                               "not every trial could be carried out (see above)", std::get<std::vector<rules::Gate>>(gates)};
    if (!finish.published)
      if (const auto finished = find_finished_report(options.workspace, input.plan)) {
        streams.out << report_text(finished->model, format_, options);
        return exit_of_gates(rules::judge_gates(finish.gates, finished->gate_figures), static_cast<Exit>(finished->conclusion), streams);
      }
    if (input.spec.launch_kind != "slurm") return carry_out_here(input, finish, options, streams);
    return run_on_cluster(input, detach_ ? slurm::FollowUntil::kOneLook : slurm::FollowUntil::kAllEnded, finish, options, streams);
  }

 private:
  static Exit carry_out_here(const SweepInput& input, FinishOptions finish, const GlobalOptions& options, Streams streams) {
    if (const std::string refusal = refuse_beside_jobs(input.plan, options); !refusal.empty()) {
      streams.err << "rematch: " << refusal << "\n";
      return Exit::kEnvironment;
    }
    const Terminal terminal = decide_terminal(facts_of_stderr(), options.color);
    ProgressPrinter progress(streams.err, terminal, chatter_of(options.verbosity), columns_of_stderr);
    const auto result = engine::carry_out(input.plan, {options.workspace, input.trainer, input.spec.launch_kind}, progress);
    if (!result) {
      streams.err << "rematch: " << result.error().message << "\n";
      return Exit::kEnvironment;
    }
    finish.undone_reason = "this machine could not carry out every trial (see above)";
    return finish_run(result.value(), finish, options, streams);
  }

  SweepArguments arguments_;
  bool dry_run_ = false;
  bool detach_ = false;
  PublishedOption published_;
  GateOption gates_;
  std::string format_ = "md";
};

const VerbRegistrar<RunVerb> registrar;

}  // namespace

}  // namespace rematch::cli

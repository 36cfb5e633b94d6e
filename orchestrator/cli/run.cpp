// `rematch run SWEEP`: carry the sweep out, or go on where it stopped, and print its table.
#include <CLI/CLI.hpp>
#include <ostream>

#include "orchestrator/cli/beside.h"
#include "orchestrator/cli/control_peak.h"
#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/plan_text.h"
#include "orchestrator/cli/progress.h"
#include "orchestrator/cli/slurm_preview.h"
#include "orchestrator/cli/sweep_input.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

class RunVerb final : public Verb {
 public:
  std::string name() const override { return "run"; }
  std::string summary() const override { return "Carry a sweep out, or go on where it stopped, and print its table"; }

  void declare(CLI::App& app) override {
    arguments_.declare(app);
    app.add_flag("--dry-run", dry_run_, "Show what would be run, as `plan` does, and start nothing");
    published_.declare(app);
    app.add_option("-f,--format", format_, "Of the table on stdout")->check(CLI::IsMember(report::format_names()))->capture_default_str();
    app.footer(
        "Examples:\n"
        "  rematch run sweeps/first.yaml\n"
        "  rematch run sweeps/first.yaml --set measure.blocks=5\n"
        "  rematch run sweeps/first.yaml --dry-run\n"
        "  rematch run --simulate sweeps/published/moonlight_16b_8xh100.yaml\n"
        "--simulate runs each distinct rank of the layout once on the meta device: no memory, no kernels, no GPU. Its figures are "
        "predicted, its\n"
        "study is one of its own, and it concludes nothing.\n"
        "A second run starts only what is not done. SIGINT ends the trial in flight and stops; twice: at once.\n"
        "Exit: 0 usable, 3 the sweep is refused, 4 a candidate ended in an unexpected way, 5 no candidate meets the budget,\n"
        "6 the control is not a control, 7 trials ran in settings that may not be compared, or no row of the published table may be,\n"
        "8 environment, 75 interrupted: run again to go on.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto published = published_.load(streams);
    if (const Exit* exit = std::get_if<Exit>(&published)) return *exit;
    const auto loaded = load_sweep(arguments_, options, streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded)) return *exit;
    const auto& input = std::get<SweepInput>(loaded);
    if (dry_run_) {
      streams.out << plan_text(input, {find_control_peak(input.plan, options, streams), std::nullopt});
      if (const auto preview = preview_slurm(input, options)) streams.out << "\n" << preview_text(*preview);
      return Exit::kOk;
    }
    const auto& table = std::get<std::optional<protocol::Published>>(published);
    if (table) return carry_out(input, table, options, streams);
    if (const auto finished = find_finished_report(options.workspace, input.plan)) {
      streams.out << report::render(finished->model, format_).value();
      return static_cast<Exit>(finished->conclusion);
    }
    return carry_out(input, table, options, streams);
  }

 private:
  Exit carry_out(const SweepInput& input, const std::optional<protocol::Published>& published, const GlobalOptions& options,
                 Streams streams) const {
    const Terminal terminal = decide_terminal(facts_of_stderr(), options.color);
    ProgressPrinter progress(streams.err, terminal, chatter_of(options));
    const auto result = engine::carry_out(input.plan, {options.workspace, input.trainer, input.spec.launch_kind}, progress);
    if (!result) {
      streams.err << "rematch: " << result.error().message << "\n";
      return Exit::kEnvironment;
    }
    keep(result.value(), options);
    if (const std::optional<Exit> left = trials_left(result.value(), streams)) return *left;
    const engine::EngineResult& done = result.value();
    streams.out << report::render(make_report_beside(done.study, done.verdict, published, options, streams), format_).value();
    return exit_beside(done.study, published, static_cast<Exit>(base::exit_code(done.verdict.conclusion)), streams);
  }

  static Chatter chatter_of(const GlobalOptions& options) {
    if (options.verbosity == 0) return Chatter::kNormal;
    return options.verbosity < 0 ? Chatter::kQuiet : Chatter::kVerbose;
  }

  // A report that cannot be kept is made again when it is asked for.
  static void keep(const engine::EngineResult& result, const GlobalOptions& options) {
    base::Result<store::Store> opened = store::Store::open(protocol::WorkspacePaths{options.workspace}.database());
    if (!opened) return;
    store::Store store = std::move(opened).value();
    keep_report(store, result.study, result.verdict);
  }

  // Says what is not done, if anything is.
  static std::optional<Exit> trials_left(const engine::EngineResult& result, Streams streams) {
    switch (result.end) {
      case engine::EngineEnd::kInterrupted:
      case engine::EngineEnd::kTrialsLeft: {
        const bool by_signal = result.end == engine::EngineEnd::kInterrupted;
        streams.err << "rematch: " << (by_signal ? "stopped" : "this machine could not carry out every trial (see above): ended")
                    << " with " << result.num_undone << " of " << result.study.plan.trials.size()
                    << " trials not done; run again to go on\n";
        return by_signal ? Exit::kInterrupted : Exit::kEnvironment;
      }
      case engine::EngineEnd::kComplete:
      case engine::EngineEnd::kControlRefuted: break;
    }
    return std::nullopt;
  }

  SweepArguments arguments_;
  bool dry_run_ = false;
  PublishedOption published_;
  std::string format_ = "md";
};

const VerbRegistrar<RunVerb> registrar;

}  // namespace

}  // namespace rematch::cli

#include "orchestrator/cli/finish_run.h"

#include <optional>
#include <ostream>
#include <utility>

#include "orchestrator/cli/beside.h"
#include "orchestrator/cli/gate_option.h"
#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/report_output.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

// A report that cannot be kept is made again when it is asked for.
std::optional<report::ReportModel> keep(const engine::EngineResult& result, const GlobalOptions& options) {
  base::Result<store::Store> opened = store::Store::open(protocol::WorkspacePaths{options.workspace}.database());
  if (!opened) return std::nullopt;
  store::Store store = std::move(opened).value();
  return keep_report(store, result.study, result.verdict);
}

// Says what is not done, if anything is.
std::optional<Exit> trials_left(const engine::EngineResult& result, const std::string& undone_reason, Streams streams) {
  switch (result.end) {
    case engine::EngineEnd::kInterrupted:
    case engine::EngineEnd::kTrialsLeft: {
      const bool is_interrupted = result.end == engine::EngineEnd::kInterrupted;
      streams.err << "rematch: " << (is_interrupted ? "stopped" : undone_reason + ": ended") << " with " << result.num_undone << " of "
                  << result.study.plan.trials.size() << " trials not done; run again to go on\n";
      return is_interrupted ? Exit::kInterrupted : Exit::kEnvironment;
    }
    case engine::EngineEnd::kComplete:
    case engine::EngineEnd::kControlRefuted: break;
  }
  return std::nullopt;
}

}  // namespace

Exit finish_run(const engine::EngineResult& result, const FinishOptions& finish, const GlobalOptions& options, Streams streams) {
  std::optional<report::ReportModel> kept = keep(result, options);
  if (const std::optional<Exit> left = trials_left(result, finish.undone_reason, streams)) return *left;
  report::ReportModel model =
      kept && !finish.published ? *std::move(kept) : make_report_beside(result.study, result.verdict, finish.published, options, streams);
  streams.out << report_text(std::move(model), finish.format, options);
  const Exit exit = exit_beside(result.study, finish.published, static_cast<Exit>(base::exit_code(result.verdict.conclusion)), streams);
  return exit_of_gates(rules::judge_gates(finish.gates, rules::gate_figures(result.verdict)), exit, streams);
}

}  // namespace rematch::cli

// `rematch report [STUDY]`: the study's table and answer.
#include <CLI/CLI.hpp>

#include "orchestrator/cli/beside.h"
#include "orchestrator/cli/gate_option.h"
#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/report_output.h"
#include "orchestrator/cli/study_input.h"
#include "orchestrator/cli/uncollected.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/report/guide_report.h"
#include "orchestrator/rules/judge.h"

namespace rematch::cli {

namespace {

class ReportVerb final : public Verb {
 public:
  std::string name() const override { return "report"; }
  std::string summary() const override { return "Print the table and the answer of a study"; }

  void declare(CLI::App& app) override {
    app.add_option("study", study_, "Name or id of the study, or the beginning of either; not needed when there is one only");
    published_.declare(app);
    app.add_option("--style", style_, "full, or guide: the recompute guide's own tables, in its columns and units")
        ->check(CLI::IsMember({"full", "guide"}))
        ->capture_default_str();
    app.add_flag("--force", force_, "Compare trials of different settings too, marked as unmatched");
    gates_.declare(app, rules::GateUse::kStudy);
    declare_report_output(app, output_);
    app.footer(
        "Examples:\n"
        "  rematch report\n"
        "  rematch report first --units GiB\n"
        "  rematch report first -o first.csv\n"
        "  rematch report first --style guide\n"
        "  rematch report moonlight_16b_8xh100 --published sweeps/published/moonlight_16b_8xh100.json\n"
        "  rematch report moonlight_16b_8xh100 --published moonlight_16b_8xh100\n"
        "  rematch report first --force\n"
        "  rematch report first --fail-on 'peak_allocated>40GB' --fail-on drift\n"
        "A published table is a file, or the name of one that `ingest --published` imported.\n"
        "Gates of --fail-on look at the arm that the answer names, and at the study's step times; `compare` has those on differences.\n"
        "Exit: 0 printed (what the study came to stands in the report), 2 no such study, no published table, or a file of no known format, "
        "7 printed, and trials that "
        "may not be\n"
        "compared are not, or no row of the published table may be; 8 no database, or a file that cannot be written, 9 a gate fired.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const auto format = format_of(output_, streams);
    if (const Exit* exit = std::get_if<Exit>(&format)) return *exit;
    if (const auto refused = refuse_style(streams)) return *refused;
    const auto loaded_gates = gates_.load(streams);
    if (const Exit* exit = std::get_if<Exit>(&loaded_gates)) return *exit;
    const auto& gates = std::get<std::vector<rules::Gate>>(loaded_gates);
    auto opened = open_store(options, streams);
    if (const Exit* exit = std::get_if<Exit>(&opened)) return *exit;
    auto& store = std::get<store::Store>(opened);
    const base::Result<store::StudySummary> found = store.find_study(study_);
    if (!found) {
      streams.err << "rematch: " << found.error().message << "\n";
      return Exit::kUsage;
    }
    const auto published = published_.load(options, streams);
    if (const Exit* exit = std::get_if<Exit>(&published)) return *exit;
    const auto& table = std::get<std::optional<protocol::Published>>(published);
    const std::string& study_id = found.value().study_id;
    tell_of_uncollected(options.workspace, study_id, streams.err);
    if (!table && !force_ && !is_guide())
      if (const auto kept = find_kept_report(store, study_id, plots_for(std::get<std::string>(format))))
        return exit_of_gates(rules::judge_gates(gates, kept->gate_figures),
                             write_report(with_workspace(kept->model, options), output_, streams), streams);
    const base::StudyRows study = store.load_study(study_id).value();
    const base::StudyVerdict verdict = rules::judge_study(study, force_ ? rules::Comparison::kForce : rules::Comparison::kRefuse);
    const Exit written = write_report(
        with_workspace(is_guide() ? report::make_guide_report(study, verdict) : make_report_beside(study, verdict, table, options, streams),
                       options),
        output_, streams);
    if (written == Exit::kOk && !verdict.unmatched.empty() && !force_) return refuse(verdict, streams);
    return exit_of_gates(rules::judge_gates(gates, rules::gate_figures(verdict)), exit_beside(study, table, written, streams), streams);
  }

 private:
  bool is_guide() const { return style_ == "guide"; }

  // What the guide's tables have no place for is no option of theirs.
  std::optional<Exit> refuse_style(Streams streams) const {
    if (!is_guide()) return std::nullopt;
    const char* reason = output_.units != "GB"   ? "--units: the guide's tables are in GB"
                         : published_.is_given() ? "--published: the guide's tables have nothing beside the study's own figures"
                                                 : nullptr;
    if (reason == nullptr) return std::nullopt;
    streams.err << "rematch: --style guide does not take " << reason << "; leave one of the two out\n";
    return Exit::kUsage;
  }

  static Exit refuse(const base::StudyVerdict& verdict, Streams streams) {
    streams.err << "rematch: " << verdict.conclusion_reason << "; see the table of unmatched fields. --force compares them all the same\n";
    return Exit::kComparisonRefused;
  }

  std::string study_;
  std::string style_ = "full";
  bool force_ = false;
  PublishedOption published_;
  GateOption gates_;
  ReportOutput output_;
};

const VerbRegistrar<ReportVerb> registrar;

}  // namespace

}  // namespace rematch::cli

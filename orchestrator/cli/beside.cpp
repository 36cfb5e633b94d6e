#include "orchestrator/cli/beside.h"

#include <CLI/CLI.hpp>
#include <ostream>
#include <system_error>

#include "orchestrator/cli/imported_tables.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/published_match.h"
#include "orchestrator/rules/twin_study.h"
#include "orchestrator/spec/nearest.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

// Studies of the workspace that train the same, whatever their figures are.
std::vector<base::StudyRows> twin_candidates(const base::StudyRows& study, const GlobalOptions& options, Streams streams) {
  const std::filesystem::path database = protocol::WorkspacePaths{options.workspace}.database();
  if (study.plan.trials.empty() || !std::filesystem::exists(database)) return {};
  const base::Result<store::Store> opened = store::Store::open(database);
  if (!opened) {
    warn(streams.err, {base::WarningId::kNoTwin, "no other study is set beside this one: " + opened.error().message});
    return {};
  }
  std::vector<base::StudyRows> candidates;
  for (const store::StudySummary& summary : opened.value().studies()) {
    if (summary.study_id == study.plan.study_id || summary.num_attempts == 0) continue;
    const base::StudyPlan plan = opened.value().load_plan(summary.study_id);
    if (!plan.trials.empty() && rules::trains_the_same(study.plan.trials.front(), plan.trials.front()))
      candidates.push_back(opened.value().load_study(summary.study_id).value());
  }
  return candidates;
}

std::string no_such_table(const std::string& name, const std::filesystem::path& workspace) {
  const std::vector<std::string> names = imported_names(workspace);
  if (names.empty())
    return "'" + name + "' is neither a file nor an imported table, and " + workspace.string() +
           " has none; `rematch ingest --published FILE` imports one";
  return spec::unknown_name_message(name, "a file nor an imported table", names);
}

}  // namespace

void PublishedOption::declare(CLI::App& app) {
  app.add_option("--published", file_,
                 "Published table to set the study against: a file, such as sweeps/published/moonlight_16b_8xh100.json, or the name of one "
                 "that was imported");
}

std::variant<std::optional<protocol::Published>, Exit> PublishedOption::load(const GlobalOptions& options, Streams streams) const {
  if (file_.empty()) return std::nullopt;
  const std::filesystem::path imported = protocol::WorkspacePaths{options.workspace}.published(file_);
  std::error_code none;
  const bool is_file = std::filesystem::exists(file_, none) && !std::filesystem::is_directory(file_, none);
  const bool is_name = !is_file && protocol::may_name_a_file(file_);
  try {
    if (is_name && !std::filesystem::is_regular_file(imported, none))
      throw protocol::DocumentError(no_such_table(file_, options.workspace));
    return protocol::read_published(is_name ? imported.string() : file_);
  } catch (const protocol::DocumentError& error) {
    streams.err << "rematch: --published: " << error.what() << "\n";
    return Exit::kUsage;
  }
}

Exit exit_beside(const base::StudyRows& study, const std::optional<protocol::Published>& published, Exit otherwise, Streams streams) {
  if (!published || otherwise != Exit::kOk) return otherwise;
  const std::string refusal = rules::published_refusal(study, *published);
  if (refusal.empty()) return otherwise;
  streams.err << "rematch: --published: " << refusal << "\n";
  return Exit::kComparisonRefused;
}

report::ReportModel make_report_beside(const base::StudyRows& study, const base::StudyVerdict& verdict,
                                       const std::optional<protocol::Published>& published, const GlobalOptions& options, Streams streams) {
  std::vector<base::StudyRows> candidates;
  if (rules::provenance_of(study) == protocol::Provenance::kPredicted) candidates = twin_candidates(study, options, streams);
  report::Beside beside;
  beside.published = published ? &*published : nullptr;
  beside.twin = rules::newest_twin(study, candidates, protocol::Provenance::kModelledDevice);
  return report::make_report(study, verdict, beside);
}

}  // namespace rematch::cli

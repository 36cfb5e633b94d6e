// `rematch ingest`: the database again, from the trial folders alone.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <vector>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/collect/collect.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/store/inspect.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

// By name, so that two runs do the same.
std::vector<std::filesystem::path> study_folders(const protocol::WorkspacePaths& workspace) {
  std::vector<std::filesystem::path> folders;
  if (std::filesystem::exists(workspace.studies()))
    for (const auto& entry : std::filesystem::directory_iterator(workspace.studies()))
      if (entry.is_directory()) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

base::Result<base::StudyPlan> read_plan(const std::filesystem::path& folder) {
  try {
    return base::read_study_plan(protocol::StudyPaths{folder}.plan().string());
  } catch (const protocol::DocumentError& error) {
    return base::Error{error.what()};
  }
}

class IngestVerb final : public Verb {
 public:
  std::string name() const override { return "ingest"; }
  std::string summary() const override { return "Rebuild the database from the trial folders"; }

  void declare(CLI::App& app) override {
    app.add_flag("--rebuild", rebuild_, "Put the database aside first, whatever is in it, and make it anew");
    app.footer(
        "Examples:\n"
        "  rematch ingest\n"
        "  rematch ingest --rebuild\n"
        "  rematch --workspace /data/rematch-runs ingest\n"
        "The database holds nothing that the folders do not: deleting it and ingesting gives the same rows. One that is damaged, or of\n"
        "a newer program, is put aside by --rebuild as rematch.db.aside-1. All is replaced in one go: an ingest that dies changes "
        "nothing.\n"
        "Exit: 0 rebuilt, 8 a run is under way in this workspace, the database cannot be written, or a study cannot be read.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    const protocol::WorkspacePaths workspace{options.workspace};
    if (!std::filesystem::exists(workspace.root)) {
      streams.err << "rematch: there is no workspace " << workspace.root.string() << "; --workspace names another place\n";
      return Exit::kEnvironment;
    }
    const auto lock = engine::WorkspaceLock::take(workspace.root, "ingest");
    if (!lock) return complain(lock.error(), streams);
    if (rebuild_ && std::filesystem::exists(workspace.database()))
      streams.err << "rematch: the database before is now " << store::put_database_aside(workspace.database()).string() << "\n";
    auto store = store::Store::open(workspace.database());
    if (!store) return complain(store.error(), streams);
    store::Store database = std::move(store).value();
    Exit exit = Exit::kOk;
    database.change_as_one([&] { exit = ingest_all(database, workspace, streams); });
    return exit;
  }

 private:
  static Exit complain(const base::Error& error, Streams streams) {
    streams.err << "rematch: " << error.message << "\n";
    return Exit::kEnvironment;
  }

  static Exit ingest_all(store::Store& database, const protocol::WorkspacePaths& workspace, Streams streams) {
    Exit exit = Exit::kOk;
    database.clear();
    for (const std::filesystem::path& folder : study_folders(workspace)) {
      const base::Result<base::StudyPlan> plan = read_plan(folder);
      if (plan)
        ingest_study(database, plan.value(), folder, streams);
      else
        exit = complain(plan.error(), streams);
    }
    return exit;
  }

  static void ingest_study(store::Store& database, const base::StudyPlan& plan, const std::filesystem::path& root, Streams streams) {
    const engine::StudyFolder folder(root);
    std::size_t num_attempts = 0;
    database.put_plan(plan);
    for (const protocol::Trial& trial : plan.trials)
      for (const engine::AttemptOnDisk& attempt : folder.attempts(trial.trial_id)) {
        const base::AttemptRows rows = collect::collect_attempt(attempt.folder, plan.study_id);
        if (rows.trial.trial_id != trial.trial_id) {
          streams.err << "rematch: " << attempt.folder.string() << " holds the trial.json of trial " << rows.trial.trial_id
                      << "; it is left out\n";
          continue;
        }
        database.put_attempt(rows);
        ++num_attempts;
      }
    database.put_verdicts(plan.study_id, rules::judge_study(database.load_study(plan.study_id).value()));
    streams.err << plan.name << " (" << plan.study_id << "): " << plan.trials.size() << " trials, " << num_attempts << " attempts\n";
  }

  bool rebuild_ = false;
};

const VerbRegistrar<IngestVerb> registrar;

}  // namespace

}  // namespace rematch::cli

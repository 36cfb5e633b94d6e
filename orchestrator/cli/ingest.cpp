// `rematch ingest`: the database again, from the folders of the workspace alone; with --published, the import of others' tables.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <future>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>
#include <vector>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/imported_tables.h"
#include "orchestrator/cli/kept_report.h"
#include "orchestrator/cli/published_import.h"
#include "orchestrator/cli/study_folders.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/cli/warn.h"
#include "orchestrator/collect/collect.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/rules/judge.h"
#include "orchestrator/store/inspect.h"
#include "orchestrator/store/kept_rows.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

base::Result<base::StudyPlan> read_plan(const std::filesystem::path& folder) {
  try {
    base::StudyPlan plan = base::read_study_plan(protocol::StudyPaths{folder}.plan().string());
    const std::filesystem::path own = protocol::WorkspacePaths{""}.study(plan.name, plan.study_id).filename();
    if (folder.filename() == own) return plan;
    return base::Error{folder.string() + " holds the study.json of " + own.string() + "; it is left out. Move a copy out of the workspace"};
  } catch (const protocol::DocumentError& error) {
    return base::Error{error.what()};
  }
}

struct CollectedAttempt {
  std::filesystem::path folder;
  std::string trial_id;  // by the folder's place
  base::AttemptRows rows;
};

// Reads the attempts of a study in batches, in the plan's order; the next batch is read on a thread of its own while one is stored.
class AttemptReader {
 public:
  AttemptReader(const base::StudyPlan& plan, engine::StudyFolder folder) : plan_(plan), folder_(std::move(folder)) { read_ahead(); }

  // Empty at the end.
  std::vector<CollectedAttempt> next() {
    std::vector<CollectedAttempt> batch = ahead_.get();
    read_ahead();
    return batch;
  }

 private:
  static constexpr std::size_t kBatch = 32;  // attempts at least, less at the end

  void read_ahead() {
    ahead_ = std::async(std::launch::async, [this] { return read_batch(); });
  }
  std::vector<CollectedAttempt> read_batch() {
    std::vector<CollectedAttempt> batch;
    for (; batch.size() < kBatch && next_trial_ < plan_.trials.size(); ++next_trial_) {
      const std::string& trial_id = plan_.trials[next_trial_].trial_id;
      for (const engine::AttemptOnDisk& attempt : folder_.attempts(trial_id))
        batch.push_back({attempt.folder, trial_id, collect::collect_attempt(attempt.folder, plan_.study_id)});
    }
    return batch;
  }

  const base::StudyPlan& plan_;
  engine::StudyFolder folder_;
  std::size_t next_trial_ = 0;                        // touched by the reading thread alone
  std::future<std::vector<CollectedAttempt>> ahead_;  // last: its destructor waits for the thread
};

class IngestVerb final : public Verb {
 public:
  std::string name() const override { return "ingest"; }
  std::string summary() const override { return "Rebuild the database from the trial folders, or import published tables"; }

  void declare(CLI::App& app) override {
    CLI::Option* rebuild = app.add_flag("--rebuild", rebuild_, "Put the database aside first, whatever is in it, and make it anew");
    import_.declare(app);
    app.get_option("--published")->excludes(rebuild);
    app.footer(
        "Examples:\n"
        "  rematch ingest\n"
        "  rematch ingest --rebuild\n"
        "  rematch --workspace /data/rematch-runs ingest\n"
        "  rematch ingest --published sweeps/published/*.json\n"
        "  rematch ingest --published sweeps/published/moonlight_16b_8xh100.json --dry-run -f json\n"
        "The database holds nothing that the folders do not: deleting it and ingesting gives the same rows. One that is damaged, or of\n"
        "a newer program, is put aside by --rebuild as rematch.db.aside-1. All is replaced in one go: an ingest that dies changes "
        "nothing.\n"
        "--published imports tables that others published, and audits them: differences recomputed, throughput x time, units, rounding, "
        "what "
        "is\n"
        "unmatched, and what each table supports. Figures that are contradicted are findings: the exit is 0, and a line on stderr counts "
        "them.\n"
        "A trainer that can be asked says what the tables' presets are made of; without one the audit says less of their models.\n"
        "Exit: 0 rebuilt, or audited and imported, 2 a file is no published table: none is imported, 8 a run is under way in this "
        "workspace, the database cannot be written, or a study cannot be read.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    if (import_.is_asked_for()) return import_.run(options, streams);
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
    database.replace_all([&] { exit = ingest_all(database, workspace, streams); });
    return exit;
  }

 private:
  static Exit complain(const base::Error& error, Streams streams) {
    streams.err << "rematch: " << error.message << "\n";
    return Exit::kEnvironment;
  }

  static Exit ingest_all(store::Store& database, const protocol::WorkspacePaths& workspace, Streams streams) {
    Exit exit = Exit::kOk;
    for (const std::filesystem::path& folder : study_folders(workspace.root)) {
      const base::Result<base::StudyPlan> plan = read_plan(folder);
      if (plan)
        ingest_study(database, plan.value(), folder, streams);
      else
        exit = complain(plan.error(), streams);
    }
    for (const base::Result<protocol::Published>& table : imported_tables(workspace.root))
      if (table)
        database.put_published(table.value().name, protocol::to_json(table.value()).dump());
      else
        exit = complain(table.error(), streams);
    return exit;
  }

  static void ingest_study(store::Store& database, const base::StudyPlan& plan, const std::filesystem::path& root, Streams streams) {
    database.put_plan(plan);
    base::StudyRows study{plan, {}};
    AttemptReader reader(plan, engine::StudyFolder(root));
    while (true) {
      std::vector<CollectedAttempt> batch = reader.next();
      if (batch.empty()) break;
      std::vector<base::AttemptRows> rows = keep_own(std::move(batch), streams);
      database.put_attempts(rows);
      for (base::AttemptRows& attempt : rows) {
        store::drop_what_is_not_kept(attempt);
        study.attempts.push_back(std::move(attempt));
      }
    }
    const auto order = [](const base::AttemptRows& rows) { return std::tuple(rows.trial.block, rows.trial.slot, rows.attempt); };
    std::stable_sort(study.attempts.begin(), study.attempts.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
    const base::StudyVerdict verdict = rules::judge_study(study);
    database.put_verdicts(plan.study_id, verdict);
    keep_report(database, study, verdict);
    streams.err << plan.name << " (" << plan.study_id << "): " << plan.trials.size() << " trials, " << study.attempts.size()
                << " attempts\n";
  }

  // Less those that stand in the folder of another trial.
  static std::vector<base::AttemptRows> keep_own(std::vector<CollectedAttempt> batch, Streams streams) {
    std::vector<base::AttemptRows> rows;
    for (CollectedAttempt& attempt : batch) {
      if (attempt.rows.trial.trial_id == attempt.trial_id)
        rows.push_back(std::move(attempt.rows));
      else
        warn(streams.err, {base::WarningId::kMisplacedTrial,
                           attempt.folder.string() + " holds the trial.json of trial " + attempt.rows.trial.trial_id + "; it is left out"});
    }
    return rows;
  }

  bool rebuild_ = false;
  PublishedImport import_;
};

const VerbRegistrar<IngestVerb> registrar;

}  // namespace

}  // namespace rematch::cli

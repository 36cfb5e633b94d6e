// `rematch status`: the studies of the workspace, how far each got, and what is running. Only looks.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "orchestrator/base/planned_provenance.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/verb.h"
#include "orchestrator/engine/record_tail.h"
#include "orchestrator/engine/study_folder.h"
#include "orchestrator/engine/workspace_lock.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::cli {

namespace {

namespace fs = std::filesystem;

constexpr int kStatusSchemaVersion = 1;

struct RunningTrial {
  std::string arm;
  std::int64_t block = 0;
  std::int64_t slot = 0;
  std::int64_t num_steps_completed = 0;
  std::int64_t num_steps = 0;
};

struct StudyStatus {
  std::string name;
  std::string study_id;
  std::optional<protocol::Provenance> provenance;   // of its plan; null without trials
  std::int64_t num_planned = 0;                     // trials
  std::int64_t num_done = 0;                        // trials
  std::optional<std::int64_t> num_failed_attempts;  // null without a database
  bool is_at_its_end = true;                        // no trials may follow those that are planned
  std::optional<engine::WorkspaceHolder> holder;    // of the study that runs
  std::optional<RunningTrial> running;
};

// The newest attempt without a launch.json.
std::optional<RunningTrial> find_running(const engine::StudyFolder& folder, const base::StudyPlan& plan) {
  for (const protocol::Trial& trial : plan.trials) {
    const auto attempts = folder.attempts(trial.trial_id);
    if (attempts.empty() || fs::exists(protocol::AttemptPaths{attempts.back().folder}.launch())) continue;
    const auto steps = engine::read_running_steps(attempts.back().folder, trial);
    return RunningTrial{trial.arm, trial.block, trial.slot, steps.num_steps_completed, trial.training.train_iters};
  }
  return std::nullopt;
}

// What the database knows, which is read many times faster than the plans of the folders. Of a damaged one nothing is known: the folders
// tell the rest, and `doctor` says what to do.
class StoredStudies {
 public:
  explicit StoredStudies(const fs::path& workspace) {
    const protocol::WorkspacePaths paths{workspace};
    if (!fs::exists(paths.database())) return;
    auto opened = store::Store::open(paths.database());
    if (!opened) return;
    try {
      const store::Store store = std::move(opened).value();
      for (const store::StudySummary& summary : store.studies()) {
        const fs::path folder = paths.study(summary.name, summary.study_id);
        by_folder_[folder.filename()] = {summary, engine::StudyFolder(folder).num_marked_done(store.attempt_keys(summary.study_id))};
      }
    } catch (const store::StoreError&) {
      by_folder_.clear();
    }
  }

  struct Known {
    store::StudySummary summary;
    std::int64_t num_done = 0;  // what is marked done was stored before
  };
  const Known* find(const fs::path& study_folder) const {
    const auto found = by_folder_.find(study_folder.filename());
    return found == by_folder_.end() ? nullptr : &found->second;
  }

 private:
  std::map<fs::path, Known> by_folder_;
};

StudyStatus status_by_plan(const fs::path& study_folder, const base::StudyPlan& plan) {
  return {.name = plan.name,
          .study_id = plan.study_id,
          .provenance = base::planned_provenance(plan),
          .num_planned = static_cast<std::int64_t>(plan.trials.size()),
          .num_done = engine::StudyFolder(study_folder).num_done(plan),
          .is_at_its_end = !base::awaits_decision(plan)};
}

StudyStatus status_by_rows(const StoredStudies::Known& known) {
  return {.name = known.summary.name,
          .study_id = known.summary.study_id,
          .provenance = known.summary.provenance,
          .num_planned = known.summary.num_trials,
          .num_done = known.num_done,
          .num_failed_attempts = known.summary.num_failed_attempts,
          .is_at_its_end = !known.summary.awaits_decision};
}

// nullopt: a folder that is no study yet.
std::optional<StudyStatus> status_of(const fs::path& study_folder, const StoredStudies& studies,
                                     const std::optional<engine::WorkspaceHolder>& holder) {
  const bool runs = holder && holder->study == study_folder.filename();
  const StoredStudies::Known* stored = studies.find(study_folder);
  if (!fs::exists(protocol::StudyPaths{study_folder}.plan())) return std::nullopt;
  std::optional<base::StudyPlan> plan;
  if (runs || stored == nullptr) plan = base::read_study_plan(protocol::StudyPaths{study_folder}.plan().string());
  StudyStatus status = stored != nullptr ? status_by_rows(*stored) : status_by_plan(study_folder, *plan);
  if (!runs) return status;
  status.holder = holder;
  if (plan) status.running = find_running(engine::StudyFolder(study_folder), *plan);
  return status;
}

std::vector<StudyStatus> all_statuses(const fs::path& workspace) {
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(protocol::WorkspacePaths{workspace}.studies(), none)) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  const StoredStudies studies(workspace);
  const auto holder = engine::WorkspaceLock::holder(workspace);
  std::vector<StudyStatus> statuses;
  for (const fs::path& folder : folders)
    if (auto status = status_of(folder, studies, holder)) statuses.push_back(*std::move(status));
  return statuses;
}

std::string state_text(const StudyStatus& status) {
  const bool is_complete = status.num_done == status.num_planned && status.is_at_its_end;
  if (!status.holder) return is_complete ? "complete" : "stopped";
  std::string text = fmt::format("running in process {} on {}", status.holder->pid, status.holder->host);
  if (status.running)
    text += fmt::format(": {}, block {}, slot {}, step {} of {}", status.running->arm, status.running->block, status.running->slot,
                        status.running->num_steps_completed, status.running->num_steps);
  return text;
}

void print_table(const std::vector<StudyStatus>& statuses, std::ostream& out) {
  std::size_t width = 5;
  for (const StudyStatus& status : statuses) width = std::max(width, status.name.size());
  out << fmt::format("{:<{}}  {:<16}  {:<15}  {:>5}  {:>7}  {:>15}  state\n", "study", width, "id", "provenance", "done", "planned",
                     "failed attempts");
  for (const StudyStatus& status : statuses)
    out << fmt::format("{:<{}}  {:<16}  {:<15}  {:>5}  {:>7}  {:>15}  {}\n", status.name, width, status.study_id,
                       status.provenance ? protocol::to_string(*status.provenance) : "-", status.num_done, status.num_planned,
                       status.num_failed_attempts ? std::to_string(*status.num_failed_attempts) : "-", state_text(status));
}

nlohmann::json to_json(const StudyStatus& status) {
  nlohmann::json document{{"name", status.name},
                          {"study_id", status.study_id},
                          {"num_planned", status.num_planned},
                          {"num_done", status.num_done},
                          {"num_failed_attempts", nullptr},
                          {"running", nullptr},
                          {"is_at_its_end", status.is_at_its_end}};
  document["provenance"] = status.provenance ? nlohmann::json(protocol::to_string(*status.provenance)) : nlohmann::json(nullptr);
  if (status.num_failed_attempts) document["num_failed_attempts"] = *status.num_failed_attempts;
  if (!status.holder) return document;
  nlohmann::json& running = document["running"] = {{"pid", status.holder->pid}, {"host", status.holder->host}, {"trial", nullptr}};
  if (const auto& trial = status.running)
    running["trial"] = {{"arm", trial->arm},
                        {"block", trial->block},
                        {"slot", trial->slot},
                        {"num_steps_completed", trial->num_steps_completed},
                        {"num_steps", trial->num_steps}};
  return document;
}

class StatusVerb final : public Verb {
 public:
  std::string name() const override { return "status"; }
  std::string summary() const override { return "Show the studies of the workspace, how far each got, and what is running"; }

  void declare(CLI::App& app) override {
    app.add_flag("--json", as_json_, "Print one JSON document");
    app.footer(
        "Examples:\n"
        "  rematch status\n"
        "  rematch status --json --workspace /scratch/runs\n"
        "Exit: 0 also when there is no study, 8 when a study's plan cannot be read.");
  }

  Exit run(const GlobalOptions& options, Streams streams) override {
    std::vector<StudyStatus> statuses;
    try {
      statuses = all_statuses(options.workspace);
    } catch (const protocol::DocumentError& problem) {
      streams.err << "rematch: " << problem.what() << "\n";
      return Exit::kEnvironment;
    }
    if (as_json_) {
      nlohmann::json document{{"schema_version", kStatusSchemaVersion}, {"studies", nlohmann::json::array()}};
      for (const StudyStatus& status : statuses) document["studies"].push_back(to_json(status));
      streams.out << document.dump(2) << "\n";
    } else if (statuses.empty()) {
      streams.err << "rematch: no study in " << options.workspace.string() << "; `rematch run SWEEP` makes one\n";
    } else {
      print_table(statuses, streams.out);
    }
    return Exit::kOk;
  }

 private:
  bool as_json_ = false;
};

const VerbRegistrar<StatusVerb> registrar;

}  // namespace

}  // namespace rematch::cli

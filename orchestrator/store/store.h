// The database of a workspace: a derived index over trial folders, rebuilt by `ingest` row for row. The controller is its only writer.
// Threads: one owner. Failure: what a user can cause is a Result; a failed statement throws StoreError with the SQL and SQLite's message.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "orchestrator/base/attributed_peak.h"
#include "orchestrator/base/result.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/base/run_summary.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::store {

class Database;

enum class StoreProblem {
  kBusy,      // another process held it for longer than the deadline
  kFull,      // the disk is
  kReadOnly,  // the file, its folder or the file system is
  kCorrupt,   // or no database at all
  kOther,
};

class StoreError : public std::runtime_error {
 public:
  explicit StoreError(const std::string& message, StoreProblem problem = StoreProblem::kOther)
      : std::runtime_error(message), problem_(problem) {}
  StoreProblem problem() const { return problem_; }

 private:
  StoreProblem problem_;
};

struct StudySummary {
  std::string study_id;
  std::string name;
  std::int64_t num_trials = 0;
  std::int64_t num_attempts = 0;
  std::int64_t num_failed_attempts = 0;
  std::optional<protocol::Provenance> provenance;  // of its plan; nullopt without trials
  bool awaits_decision = false;                    // its strategy may add trials
};

// Trials of a study: all of these arms, and these by their whole ids.
struct TrialChoice {
  std::vector<std::string> arms;
  std::vector<std::string> trial_ids;
};

struct TrialPlace {
  std::string study_id;
  std::string arm;
  std::string trial_id;
};

struct AttemptKey {
  std::string trial_id;
  std::int64_t attempt = 1;
};

// A study's report as one build of the program made it.
struct StoredReport {
  std::string build_id;         // of that program
  std::string plan;             // the study's plan less its trials
  std::string model;            // JSON: all but the plots
  std::int64_t conclusion = 0;  // exit code of `rematch run`
  std::string plots;            // JSON
  std::string gate_figures;     // JSON
};

class Store {
 public:
  // Creates the file when there is none; migrates an older one after a backup copy beside it; refuses a newer one, which stays as it is.
  // In a folder that cannot be written it is opened for reading alone, and must have the newest schema.
  static base::Result<Store> open(const std::filesystem::path& database);
  // For looking only: leaves no trace. The error: it is not of the newest schema, is damaged, or cannot be read.
  static base::Result<Store> open_to_read(const std::filesystem::path& database);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Inserts or replaces the study, its arms and trials. Attempts of trials that are still planned are kept.
  void put_plan(const base::StudyPlan& plan);
  // Replaces the rows of this trial and attempt in one transaction. Its study and trial must have been put.
  void put_attempt(const base::AttemptRows& attempt);
  // The same of many, all in one transaction.
  void put_attempts(const std::vector<base::AttemptRows>& attempts);
  // Replaces all verdicts of the study.
  void put_verdicts(const std::string& study_id, const base::StudyVerdict& verdict);
  // Replaces the report of the study, which must have been put. It goes when a plan or an attempt of the study is put.
  void put_report(const std::string& study_id, const StoredReport& report);
  // Inserts or replaces the published table of that name; `document` is its JSON.
  void put_published(const std::string& name, const std::string& document);
  // Removes every row, then lets `fill` write through this store: all of it is there in the end or, when `fill` throws or the process dies,
  // what was there before.
  void replace_all(const std::function<void()>& fill);

  std::vector<StudySummary> studies() const;  // by name, then id
  // By name, id or unambiguous prefix of either; an empty key means the only study there is.
  base::Result<StudySummary> find_study(const std::string& key) const;
  // `plots` only when asked for: they are many times the rest.
  enum class ReportPlots { kLeft, kRead };
  std::optional<StoredReport> report(const std::string& study_id, ReportPlots plots = ReportPlots::kLeft) const;
  // The study's trial that runs first; nullopt: it has none.
  std::optional<protocol::Trial> first_trial(const std::string& study_id) const;
  // What a rank of the study said of its model's work, by Megatron's formula; nullopt: no rank came so far.
  std::optional<double> flops_per_step(const std::string& study_id) const;
  // In the order in which they run; empty for a study that was never put.
  std::vector<std::string> trial_ids(const std::string& study_id) const;
  std::vector<AttemptKey> attempt_keys(const std::string& study_id) const;  // by trial id, then attempt
  // As find_study, with all rows.
  base::Result<base::StudyRows> load_study(const std::string& key) const;
  // Of a study by its whole id, which must be there; reads no attempts.
  base::StudyPlan load_plan(const std::string& study_id) const;
  // The same with no trials, which are nearly all of a large plan.
  base::StudyPlan load_plan_head(const std::string& study_id) const;
  // Of a study by its whole id, which must be there: the plan with the chosen trials alone, and their attempts. Its cost is that of what
  // was chosen, however large the study is.
  base::StudyRows load_attempts(const std::string& study_id, const TrialChoice& choice) const;
  // What was said of the runs of the chosen trials, in the order in which they ran; see run_rows.h for what it leaves out.
  std::vector<base::RunVerdict> load_runs(const std::string& study_id, const TrialChoice& choice) const;
  // Trials whose id begins so, of this study or, with an empty study_id, of all; in the order of studies() and as they run.
  std::vector<TrialPlace> find_trials(const std::string& beginning, const std::string& study_id = "") const;
  // Of a study by its whole id: what was judged of these arms and their runs. nullopt: the study is not judged as it stands.
  std::optional<base::StudySummaries> load_summaries(const std::string& study_id, const std::vector<std::string>& arms) const;
  // What a control of this group, in any study, held at its hot rank's peak; of one that ran out of memory only when none ended well.
  // Reads a few rows, not a study. nullopt: no such control, or not measured.
  std::optional<base::ControlPeak> control_peak(const std::string& group_id) const;

 private:
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace rematch::store

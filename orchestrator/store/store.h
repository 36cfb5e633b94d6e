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
};

class Store {
 public:
  // Creates the file when there is none; migrates an older one after a backup copy beside it; refuses a newer one, which stays as it is.
  // In a folder that cannot be written it is opened for reading alone, and must have the newest schema.
  static base::Result<Store> open(const std::filesystem::path& database);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Inserts or replaces the study, its arms and trials. Attempts of trials that are still planned are kept.
  void put_plan(const base::StudyPlan& plan);
  // Replaces the rows of this trial and attempt in one transaction. Its study and trial must have been put.
  void put_attempt(const base::AttemptRows& attempt);
  // Replaces all verdicts of the study.
  void put_verdicts(const std::string& study_id, const base::StudyVerdict& verdict);
  // Removes every row; ingest's first step.
  void clear();
  // What `change` does through this store is there as a whole or, when it throws or the process dies, not at all.
  void change_as_one(const std::function<void()>& change);

  std::vector<StudySummary> studies() const;  // by name, then id
  // By name, id or unambiguous prefix of either; an empty key means the only study there is.
  base::Result<base::StudyRows> load_study(const std::string& key) const;
  // Of a study by its whole id, which must be there; reads no attempts.
  base::StudyPlan load_plan(const std::string& study_id) const;
  // What a control of this group, in any study, held at its hot rank's peak; of one that ran out of memory only when none ended well.
  // Reads a few rows, not a study. nullopt: no such control, or not measured.
  std::optional<base::ControlPeak> control_peak(const std::string& group_id) const;

 private:
  explicit Store(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace rematch::store

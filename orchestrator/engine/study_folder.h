// A study's folder on disk: what is written before trials start, which attempts there are, and which trials are done.
// One owner, the engine; `status` only reads. Failure: std::system_error or std::filesystem::filesystem_error on a disk that refuses.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::engine {

inline constexpr const char* kDoneSchema = "rematch/done/1";

struct AttemptOnDisk {
  std::int64_t attempt = 1;
  std::filesystem::path folder;
  bool is_done = false;  // done.json names this trial, and it is not set aside
};

class StudyFolder {
 public:
  explicit StudyFolder(std::filesystem::path root) : paths_{std::move(root)} {}

  const std::filesystem::path& root() const { return paths_.root; }
  // sweep.yaml, then study.json. Files that hold the same already are left alone.
  void write_plan(const base::StudyPlan& plan) const;
  // The study.json that an earlier run left, where its strategy had taken `fresh` further; nullopt: it has no strategy that could,
  // there is none, or it is of another sweep.
  std::optional<base::StudyPlan> grown_plan(const base::StudyPlan& fresh) const;
  // By number. Empty when the trial was never started.
  std::vector<AttemptOnDisk> attempts(const std::string& trial_id) const;
  bool is_done(const std::string& trial_id) const;
  std::int64_t num_done(const base::StudyPlan& plan) const;
  // Trials among those of `attempts` with a done.json; looks at no other folder, and not into the files.
  std::int64_t num_marked_done(const std::vector<store::AttemptKey>& attempts) const;
  // The next attempt's folder; it appears together with its trial.json. Two programs that begin one at the same moment get two numbers.
  AttemptOnDisk begin_attempt(const protocol::Trial& trial) const;
  // Everything of the attempt is on disk before done.json is there. A power cut may take done.json back: then the attempt is settled again.
  void mark_done(const AttemptOnDisk& attempt, const std::string& trial_id) const;
  // Sets an attempt aside: no judgement counts it. A done one is not done any more.
  void supersede(const AttemptOnDisk& attempt, const std::string& trial_id) const;

 private:
  protocol::StudyPaths paths_;
};

}  // namespace rematch::engine

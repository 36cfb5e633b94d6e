// The submission documents of one study: who comes after a death learns from them what may be queued. Written by rename, synced, so that a
// document is on disk before sbatch is called. One writer at a time, who holds the workspace lock, but for `cancel_unix_ns`, which `cancel`
// writes without. Failure: std::system_error on a disk that refuses, protocol::DocumentError, with what to do, on a document that is
// none.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "schemas/protocol/submission.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

class SubmissionStore {
 public:
  explicit SubmissionStore(std::filesystem::path study_folder) : paths_{std::move(study_folder)} {}

  const protocol::StudyPaths& paths() const { return paths_; }
  std::vector<protocol::Submission> all() const;   // oldest intent first; empty: none was ever made
  std::vector<protocol::Submission> open() const;  // of those, the ones without close_unix_ns
  protocol::Submission read(const std::string& name) const;
  void put(const protocol::Submission& submission) const;
  // Reads it again, changes it and writes it: what another process wrote meanwhile is kept. Returns what was written.
  protocol::Submission update(const std::string& name, const std::function<void(protocol::Submission&)>& change) const;
  void put_script(const std::string& name, const std::string& script) const;

 private:
  protocol::StudyPaths paths_;
};

}  // namespace rematch::slurm

// The parts that a study is carried out in, and what their trials' files say. Reads the disk, writes nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/engine/study_folder.h"
#include "schemas/protocol/submission.h"

namespace rematch::slurm {

// "allocation" | "array" | "trials", as the sweep has it.
protocol::SubmissionShape shape_named(const std::string& name);

// Those with a trial that is not done, in the plan's order; one part, the whole study, of shape allocation.
std::vector<protocol::SubmissionTask> parts_left(const base::StudyPlan& plan, const engine::StudyFolder& folder,
                                                 protocol::SubmissionShape shape);

bool belongs_to(const protocol::Trial& trial, const protocol::SubmissionTask& part);

// A trial that has begun and not ended.
struct TrialInFlight {
  std::string arm;
  std::int64_t block = 0;
  std::int64_t slot = 0;
};

// Which trials are done. Looks only at those that were not done before, and at few of them at a time, in the order in which they run: a
// look costs little however large the study is.
class DoneTrials {
 public:
  // `fresh`: the plan as its sweep has it, before any strategy grew it.
  DoneTrials(base::StudyPlan fresh, engine::StudyFolder folder);

  const base::StudyPlan& plan() const { return plan_; }
  // Takes up the plan as a runner has grown it; reads the file only when it has changed.
  void read_plan_again();
  void look_at_all();
  // The next trials of a part.
  void look(const protocol::SubmissionTask& part);

  std::int64_t num_done() const { return static_cast<std::int64_t>(done_.size()); }
  std::int64_t num_planned() const { return static_cast<std::int64_t>(plan_.trials.size()); }
  // All trials of the part, those that were done too: what a runner repeats is done no longer.
  void look_again(const protocol::SubmissionTask& part);
  // The same, and the plan, by what `look_afresh` makes the file system say now of each folder. False: of one it could not.
  bool look_again_afresh(const protocol::SubmissionTask& part, const std::function<bool(const std::filesystem::path&)>& look_afresh);
  // By a look at every trial of the part; of one that this plan knows no trial of: no. Of the whole study it does not say whether its
  // strategy wants more.
  bool is_done(const protocol::SubmissionTask& part);
  // A block of the part is done, and its last trial ended after that time.
  bool has_block_since(const protocol::SubmissionTask& part, std::int64_t unix_ns);
  std::optional<TrialInFlight> in_flight(const protocol::SubmissionTask& part) const;

 private:
  // Of one group: each has blocks of its own, under the same numbers.
  using Block = std::pair<std::string, std::int64_t>;
  bool is_done(const protocol::Trial& trial);
  bool block_done_since(const Block& block, std::int64_t unix_ns);

  base::StudyPlan fresh_;
  base::StudyPlan plan_;
  engine::StudyFolder folder_;
  std::filesystem::file_time_type plan_time_{};  // of the file that was read last
  std::set<std::string> done_;                   // trial ids
};

}  // namespace rematch::slurm

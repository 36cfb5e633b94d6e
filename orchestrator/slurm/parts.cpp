#include "orchestrator/slurm/parts.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/launch_record.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

using protocol::SubmissionShape;
using protocol::SubmissionTask;
using protocol::Trial;

namespace {

namespace fs = std::filesystem;

SubmissionTask part_of(const Trial& trial, SubmissionShape shape) {
  switch (shape) {
    case SubmissionShape::kAllocation: break;
    case SubmissionShape::kArray: return {trial.block, std::nullopt};
    case SubmissionShape::kTrials: return {std::nullopt, trial.trial_id};
  }
  return {};
}

// nullopt: it has not ended, or never began.
std::optional<std::int64_t> end_of(const engine::AttemptOnDisk& attempt) {
  const fs::path path = protocol::AttemptPaths{attempt.folder}.launch();
  if (!fs::exists(path)) return std::nullopt;
  try {
    return protocol::read_launch_record(path).end_unix_ns;
  } catch (const protocol::DocumentError&) {
    return std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace

SubmissionShape shape_named(const std::string& name) {
  if (name == "array") return SubmissionShape::kArray;
  return name == "trials" ? SubmissionShape::kTrials : SubmissionShape::kAllocation;
}

std::vector<SubmissionTask> parts_left(const base::StudyPlan& plan, const engine::StudyFolder& folder, SubmissionShape shape) {
  std::vector<SubmissionTask> parts;
  std::set<std::string> seen;
  for (const Trial& trial : plan.trials) {
    const SubmissionTask part = part_of(trial, shape);
    if (seen.contains(protocol::scope_of(part)) || folder.is_done(trial.trial_id)) continue;
    seen.insert(protocol::scope_of(part));
    parts.push_back(part);
  }
  return parts;
}

bool belongs_to(const Trial& trial, const SubmissionTask& part) {
  if (part.block) return trial.block == *part.block;
  return !part.trial_id || trial.trial_id == *part.trial_id;
}

DoneTrials::DoneTrials(base::StudyPlan fresh, engine::StudyFolder folder)
    : fresh_(std::move(fresh)), plan_(fresh_), folder_(std::move(folder)) {
  read_plan_again();
}

void DoneTrials::read_plan_again() {
  std::error_code none;
  const auto time = fs::last_write_time(protocol::StudyPaths{folder_.root()}.plan(), none);
  if (none || time == plan_time_) return;
  auto grown = folder_.grown_plan(fresh_);
  if (!grown) return;  // what cannot be read now may be later
  plan_ = *std::move(grown);
  plan_time_ = time;
}

bool DoneTrials::is_done(const Trial& trial) {
  if (done_.contains(trial.trial_id)) return true;
  if (!folder_.is_done(trial.trial_id)) return false;
  done_.insert(trial.trial_id);
  return true;
}

void DoneTrials::look_at_all() { look_again({}); }

void DoneTrials::look_again(const SubmissionTask& part) {
  for (const Trial& trial : plan_.trials) {
    if (!belongs_to(trial, part)) continue;
    done_.erase(trial.trial_id);
    is_done(trial);
  }
}

bool DoneTrials::look_again_afresh(const SubmissionTask& part, const std::function<bool(const fs::path&)>& look_afresh) {
  bool is_fresh = look_afresh(folder_.root());
  read_plan_again();
  for (const Trial& trial : plan_.trials) {
    if (!belongs_to(trial, part) || folder_.is_done(trial.trial_id)) continue;
    is_fresh = look_afresh(protocol::StudyPaths{folder_.root()}.trial(trial.trial_id)) && is_fresh;
    const auto attempts = folder_.attempts(trial.trial_id);
    if (!attempts.empty()) is_fresh = look_afresh(attempts.back().folder) && is_fresh;
  }
  look_again(part);
  return is_fresh;
}

void DoneTrials::look(const SubmissionTask& part) {
  constexpr int kMostUndone = 3;
  int num_undone = 0;
  for (const Trial& trial : plan_.trials)
    if (belongs_to(trial, part) && !is_done(trial) && ++num_undone == kMostUndone) return;
}

bool DoneTrials::is_done(const SubmissionTask& part) {
  look_again(part);
  bool has_trial = false;
  for (const Trial& trial : plan_.trials) {
    if (!belongs_to(trial, part)) continue;
    if (!done_.contains(trial.trial_id)) return false;
    has_trial = true;
  }
  return has_trial;
}

bool DoneTrials::block_done_since(const Block& block, std::int64_t unix_ns) {
  bool is_later = false;
  for (const Trial& trial : plan_.trials) {
    if (Block(trial.group_id, trial.block) != block) continue;
    const auto attempts = folder_.attempts(trial.trial_id);
    const auto done = std::find_if(attempts.begin(), attempts.end(), [](const auto& attempt) { return attempt.is_done; });
    if (done == attempts.end()) return false;
    is_later = is_later || end_of(*done).value_or(0) > unix_ns;
  }
  return is_later;
}

bool DoneTrials::has_block_since(const SubmissionTask& part, std::int64_t unix_ns) {
  std::set<Block> blocks;
  for (const Trial& trial : plan_.trials)
    if (belongs_to(trial, part)) blocks.emplace(trial.group_id, trial.block);
  return std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) { return block_done_since(block, unix_ns); });
}

std::optional<TrialInFlight> DoneTrials::in_flight(const SubmissionTask& part) const {
  for (const Trial& trial : plan_.trials) {
    if (!belongs_to(trial, part) || done_.contains(trial.trial_id)) continue;
    const auto attempts = folder_.attempts(trial.trial_id);
    if (attempts.empty() || fs::exists(protocol::AttemptPaths{attempts.back().folder}.launch())) return std::nullopt;
    return TrialInFlight{trial.arm, trial.block, trial.slot};
  }
  return std::nullopt;
}

}  // namespace rematch::slurm

#include "orchestrator/collect/place_failure.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace rematch::collect {

namespace {

using protocol::Stage;

// The last stage entered and not left; when all were left, the last one entered.
std::optional<protocol::StageRecord> innermost_stage(const base::RankRows& rank) {
  std::vector<protocol::StageRecord> open;
  std::optional<protocol::StageRecord> last_entered;
  for (const protocol::StageRecord& record : rank.stages) {
    if (record.event == protocol::StageEvent::kEnter) {
      open.push_back(record);
      last_entered = record;
      continue;
    }
    auto same_stage = [&](const protocol::StageRecord& entered) { return entered.stage == record.stage; };
    auto entered = std::find_if(open.rbegin(), open.rend(), same_stage);
    if (entered != open.rend()) open.erase(std::next(entered).base());
  }
  return open.empty() ? last_entered : open.back();
}

// The step under way when the rank stopped: the one after the last completed, once the first has begun.
std::optional<std::int64_t> step_under_way(const base::RankRows& rank, Stage stage) {
  if (!rank.steps.empty()) return rank.steps.back().step + 1;
  if (stage < Stage::kFirstForward) return std::nullopt;
  return 0;
}

}  // namespace

base::Failure place_failure(const base::RankRows& rank, const std::string& launch_host) {
  base::Failure failure;
  failure.rank = rank.rank;
  failure.host = rank.hello ? rank.hello->host : launch_host;
  if (auto stage = innermost_stage(rank)) failure.stage = stage->stage;
  failure.step = step_under_way(rank, failure.stage);
  if (!rank.errors.empty()) {
    const protocol::ErrorRecord& error = rank.errors.front();
    failure.step = error.step;
    failure.phase = error.phase;
    if (rank.stages.empty()) failure.stage = error.stage;
  }
  if (rank.oom) {
    failure.step = rank.oom->step;
    failure.phase = rank.oom->phase;
    if (rank.stages.empty()) failure.stage = rank.oom->stage;
    failure.requested_bytes = rank.oom->requested_bytes;
    failure.allocated_bytes = rank.oom->allocated_bytes;
    failure.reserved_bytes = rank.oom->reserved_bytes;
    failure.capacity_bytes = rank.oom->capacity_bytes;
  }
  return failure;
}

Progress progress_of(const base::RankRows& rank) {
  Progress progress;
  progress.answered = std::any_of(rank.errors.begin(), rank.errors.end(),
                                  [](const protocol::ErrorRecord& error) { return error.kind == protocol::FailureKind::kInterrupted; });
  progress.num_steps_completed = static_cast<std::int64_t>(rank.steps.size());
  if (auto stage = innermost_stage(rank)) progress.stage = stage->stage;
  if (!rank.stages.empty()) progress.last_record_mono_ns = rank.stages.back().mono_ns;
  if (!rank.steps.empty()) {
    const protocol::StepRecord& step = rank.steps.back();
    progress.last_record_mono_ns = std::max(progress.last_record_mono_ns, step.start_mono_ns + step.step_time_ns);
  }
  return progress;
}

}  // namespace rematch::collect

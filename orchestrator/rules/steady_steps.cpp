#include "orchestrator/rules/steady_steps.h"

#include <algorithm>

namespace rematch::rules {

std::int64_t num_steps_completed(const base::AttemptRows& attempt) {
  if (attempt.ranks.empty()) return 0;
  std::size_t fewest = attempt.ranks.front().steps.size();
  for (const base::RankRows& rank : attempt.ranks) fewest = std::min(fewest, rank.steps.size());
  return static_cast<std::int64_t>(fewest);
}

std::int64_t first_step_after_warmup(const base::AttemptRows& attempt) {
  std::int64_t first = attempt.trial.measure.warmup_steps;
  for (const base::RankRows& rank : attempt.ranks)
    for (const protocol::StageRecord& record : rank.stages)
      if (record.stage == protocol::Stage::kOptimizerInit && record.event == protocol::StageEvent::kLeave && record.step)
        first = std::max(first, *record.step + 1);
  return first;
}

std::vector<double> step_times_ns(const base::AttemptRows& attempt) {
  std::vector<double> times(static_cast<std::size_t>(num_steps_completed(attempt)), 0.0);
  for (const base::RankRows& rank : attempt.ranks)
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = std::max(times[i], static_cast<double>(rank.steps[i].step_time_ns));
  return times;
}

stats::Plateau plateau_of(const base::RankRows& rank) {
  std::vector<std::int64_t> peaks;
  for (const protocol::StepRecord& step : rank.steps) peaks.push_back(step.lifetime_peak_allocated_bytes);
  return stats::find_plateau(peaks);
}

}  // namespace rematch::rules

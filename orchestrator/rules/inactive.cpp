#include "orchestrator/rules/inactive.h"

#include <algorithm>
#include <vector>

#include "orchestrator/rules/steady_steps.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::rules {

namespace {

std::int64_t count_of(const protocol::LabelCounts& counts, const std::string& label) {
  auto found = counts.find(label);
  return found == counts.end() ? 0 : found->second;
}

std::int64_t num_sites(const base::AttemptRows& attempt, const std::string& label) {
  std::int64_t sum = 0;
  for (const base::RankRows& rank : attempt.ranks) sum += count_of(rank.model->sites, label);
  return sum;
}

std::int64_t num_replays(const base::AttemptRows& attempt, const std::string& label) {
  std::int64_t sum = 0;
  for (const base::RankRows& rank : attempt.ranks)
    for (const protocol::StepRecord& step : rank.steps) sum += count_of(step.replays, label);
  return sum;
}

}  // namespace

std::optional<std::string> inactive_reason(const base::AttemptRows& attempt) {
  auto has_model = [](const base::RankRows& rank) { return rank.model.has_value(); };
  if (attempt.ranks.empty() || !std::all_of(attempt.ranks.begin(), attempt.ranks.end(), has_model)) return std::nullopt;
  for (const std::string& label : protocol::counted_keys(attempt.trial.recompute)) {
    const std::int64_t sites = num_sites(attempt, label);
    if (sites == 0) return label + " wrapped no region on any rank";
    if (num_steps_completed(attempt) > 0 && num_replays(attempt, label) == 0)
      return label + " wrapped " + std::to_string(sites) + " regions and none was replayed in " +
             std::to_string(num_steps_completed(attempt)) + " steps";
  }
  return std::nullopt;
}

}  // namespace rematch::rules

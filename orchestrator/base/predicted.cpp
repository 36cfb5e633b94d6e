#include "orchestrator/base/predicted.h"

#include "orchestrator/base/planned_provenance.h"

namespace rematch::base {

bool is_predicted(const protocol::Trial& trial) { return planned_provenance(trial.backend.device) == protocol::Provenance::kPredicted; }

bool is_predicted(const StudyPlan& plan) { return planned_provenance(plan) == protocol::Provenance::kPredicted; }

std::map<std::int64_t, std::int64_t> alike_counts(const protocol::Trial& trial) {
  std::map<std::int64_t, std::int64_t> counts;
  for (const protocol::RankClass& alike : protocol::rank_classes(trial))
    counts[alike.rank] = static_cast<std::int64_t>(alike.ranks.size()) - 1;
  return counts;
}

std::int64_t num_alike(const protocol::Trial& trial, std::int64_t rank) {
  if (!trial.prediction) return 0;
  const auto counts = alike_counts(trial);
  const auto found = counts.find(rank);
  return found == counts.end() ? 0 : found->second;
}

std::string rank_text(std::int64_t rank, std::int64_t num_alike) {
  const std::string text = "rank " + std::to_string(rank);
  return num_alike == 0 ? text : text + " (and " + std::to_string(num_alike) + " alike)";
}

}  // namespace rematch::base

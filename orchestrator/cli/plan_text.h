// What `plan` prints: arms, order, cost and origins, as text for people and as one JSON document for programs; with a control that was
// measured before, how much each arm can lower its peak at most; with a prediction, whether it would fit. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "orchestrator/base/attributed_peak.h"
#include "orchestrator/cli/prediction.h"
#include "orchestrator/cli/sweep_input.h"

namespace rematch::cli {

struct PlanCost {
  std::size_t num_trials = 0;
  std::int64_t num_ranks = 0;          // that one trial starts
  std::int64_t timeout_ms = 0;         // deadline of one attempt
  double rank_hours_at_most = 0;       // device-hours, since each rank has a device: if every trial ran into its deadline
  std::size_t num_trials_at_most = 0;  // with every round that the strategy may come to
  double rank_hours_at_most_in_all = 0;
};
PlanCost cost_of(const base::StudyPlan& plan);

// What is known of the arms before anything of this plan has run.
struct PlanKnowledge {
  std::optional<base::ControlPeak> control;  // measured before
  std::optional<Prediction> prediction;      // of `--predict`
};

std::string plan_text(const SweepInput& input, const PlanKnowledge& known);
std::string origin_text(const SweepInput& input);
nlohmann::json plan_json(const SweepInput& input, const PlanKnowledge& known);

}  // namespace rematch::cli

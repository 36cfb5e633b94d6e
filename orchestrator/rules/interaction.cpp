#include "orchestrator/rules/interaction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "orchestrator/stats/mean_difference.h"

namespace rematch::rules {

namespace {

using base::RunVerdict;
constexpr double kConfidence = 0.95;

// What is compared of a run: log step time, or the activation peak in bytes.
using Measure = std::optional<double> (*)(const base::RunFigures&);

std::optional<double> log_time(const base::RunFigures& figures) {
  return figures.median_step_time_ns ? std::optional(std::log(*figures.median_step_time_ns)) : std::nullopt;
}

std::optional<double> activation_peak(const base::RunFigures& figures) {
  return figures.activation_peak_bytes ? std::optional(static_cast<double>(*figures.activation_peak_bytes)) : std::nullopt;
}

// Mean over an arm's runs of each block; the control has two.
std::map<std::int64_t, double> by_block(const base::StudyVerdict& verdict, const std::string& arm, Measure measure) {
  std::map<std::int64_t, std::pair<double, int>> sums;
  for (const RunVerdict& run : verdict.runs) {
    if (run.arm != arm || !run.figures) continue;
    if (const auto value = measure(*run.figures)) {
      sums[run.block].first += *value;
      ++sums[run.block].second;
    }
  }
  std::map<std::int64_t, double> means;
  for (const auto& [block, sum] : sums) means[block] = sum.first / sum.second;
  return means;
}

// The pair less its control, block by block; and in the labels' blocks the sum of what each is less its control.
std::optional<base::MeanDifference> interaction_of(const base::StudyVerdict& verdict, const base::Interaction& names,
                                                   const std::string& control_arm, Measure measure) {
  const auto control = by_block(verdict, control_arm, measure);
  const auto first = by_block(verdict, names.first, measure);
  const auto second = by_block(verdict, names.second, measure);
  std::vector<double> of_pair;
  for (const auto& [block, value] : by_block(verdict, names.arm, measure))
    if (const auto beside = control.find(block); beside != control.end()) of_pair.push_back(value - beside->second);
  std::vector<double> of_sum;
  for (const auto& [block, value] : first) {
    const auto other = second.find(block);
    const auto beside = control.find(block);
    if (other != second.end() && beside != control.end()) of_sum.push_back(value + other->second - 2 * beside->second);
  }
  const auto difference = stats::mean_difference(of_pair, of_sum, kConfidence);
  if (!difference) return std::nullopt;
  return base::MeanDifference{difference->value, difference->low, difference->high};
}

bool has_arm(const base::StudyVerdict& verdict, const std::string& arm, const std::string& group_id) {
  return std::any_of(verdict.arms.begin(), verdict.arms.end(), [&](const base::ArmVerdict& each) {
    return each.arm == arm && each.group_id == group_id && each.outcome == base::Outcome::kPass;
  });
}

}  // namespace

std::vector<base::Interaction> find_interactions(const base::StudyPlan& plan, const base::StudyVerdict& verdict) {
  std::vector<base::Interaction> interactions;
  for (const base::ArmRow& arm : plan.arms) {
    const auto& labels = arm.recompute.recompute_modules;
    if (!labels || labels->size() != 2 || arm.recompute.recompute_granularity != "selective" || !arm.variation.empty()) continue;
    const bool all_ran = has_arm(verdict, arm.arm, arm.group_id) && has_arm(verdict, labels->front(), arm.group_id) &&
                         has_arm(verdict, labels->back(), arm.group_id);
    if (!all_ran) continue;
    base::Interaction interaction{arm.arm, labels->front(), labels->back(), {}, {}};
    const std::string& control = plan.arms.front().arm;
    const auto bytes = interaction_of(verdict, interaction, control, activation_peak);
    if (!bytes) continue;
    interaction.activation_bytes = *bytes;
    interaction.log_time = interaction_of(verdict, interaction, control, log_time);
    interactions.push_back(std::move(interaction));
  }
  return interactions;
}

}  // namespace rematch::rules

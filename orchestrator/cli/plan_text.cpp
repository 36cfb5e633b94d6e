#include "orchestrator/cli/plan_text.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orchestrator/base/layout_text.h"
#include "orchestrator/base/study_plan.h"
#include "orchestrator/cli/control_peak.h"
#include "orchestrator/cli/text_table.h"
#include "orchestrator/rules/attribution.h"
#include "orchestrator/spec/units.h"
#include "orchestrator/strategy/rounds.h"

namespace rematch::cli {

namespace {

using Row = TableRow;

std::string sites_text(const base::ArmRow& arm) {
  std::string text;
  if (arm.status == base::ArmStatus::kInvalid) return "-";
  for (const auto& [label, num_sites] : arm.expected_sites) text += (text.empty() ? "" : " ") + label + "=" + std::to_string(num_sites);
  return text.empty() ? "-" : text;
}

bool is_bounded(const base::ArmRow& arm) {
  return !arm.is_control && arm.variation.empty() && (arm.status == base::ArmStatus::kPlanned || arm.status == base::ArmStatus::kWaiting);
}

// A column in front of the reasons.
template <typename TextOf>
void add_column(std::vector<Row>& rows, const std::vector<base::ArmRow>& arms, const std::string& title, const TextOf& text_of) {
  rows.front().insert(rows.front().end() - 1, title);
  for (std::size_t i = 0; i < arms.size(); ++i) rows[i + 1].insert(rows[i + 1].end() - 1, text_of(arms[i]));
}

// With expandable segments an escalation has the same arms again; the control stands for them.
std::vector<base::ArmRow> shown_arms(const base::StudyPlan& plan) {
  std::vector<base::ArmRow> arms;
  for (const auto& arm : plan.arms)
    if (arm.variation != "expandable_segments" || arm.is_control || arm.status == base::ArmStatus::kPlanned) arms.push_back(arm);
  return arms;
}

std::string reason_text(const base::ArmRow& arm) {
  if (arm.is_control && arm.variation.empty()) return "control";
  if (arm.variation == "expandable_segments" && arm.status == base::ArmStatus::kWaiting)
    return "where the control's memory is fragmented; then all that follow, too";
  if (arm.is_control && arm.reason.empty()) return "control of its group";
  return arm.reason.empty() ? "-" : arm.reason;
}

std::string groups_text(const base::StudyPlan& plan) {
  std::vector<std::string> groups;
  for (const auto& arm : plan.arms)
    if (std::find(groups.begin(), groups.end(), arm.group_id) == groups.end()) groups.push_back(arm.group_id);
  if (groups.size() == 1) return "one group (" + groups.front() + ")";
  std::string text;
  for (const std::string& group : groups) text += (text.empty() ? "" : ", ") + group;
  return std::to_string(groups.size()) + " groups, never compared (" + text + ")";
}

std::string arms_text(const base::StudyPlan& plan, const PlanKnowledge& known) {
  std::vector<Row> rows = {{"arm", "status", "sites", "reason"}};
  const std::vector<base::ArmRow> arms = shown_arms(plan);
  for (const auto& arm : arms) rows.push_back({arm.arm, std::string(to_string(arm.status)), sites_text(arm), reason_text(arm)});
  if (known.control)
    add_column(rows, arms, "can lower the peak by", [&](const base::ArmRow& arm) {
      return is_bounded(arm) ? upper_bound_text(*known.control, arm.recompute) : std::string("-");
    });
  if (known.prediction)
    add_column(rows, arms, "predicted", [&](const base::ArmRow& arm) { return predicted_text(*known.prediction, arm.arm); });
  std::string text = text_table(rows);
  if (known.control) text += "upper bounds from " + source_text(*known.control) + "\n";
  if (known.prediction) text += source_text(*known.prediction);
  return text;
}

nlohmann::json control_json(const base::ControlPeak& control) {
  const base::AttributedPeak& peak = control.peak;
  return {{"study", control.study},
          {"trial_id", control.trial_id},
          {"provenance", control.provenance ? nlohmann::json(protocol::to_string(*control.provenance)) : nlohmann::json(nullptr)},
          {"rank", peak.rank},
          {"step", peak.step ? nlohmann::json(*peak.step) : nlohmann::json(nullptr)},
          {"phase", protocol::to_string(peak.phase)},
          {"out_of_memory", peak.moment == base::Moment::kOutOfMemory},
          {"allocated_bytes", protocol::total_bytes(peak.attribution)}};
}

// null without a control that was measured; else its peak, and of each planned arm the bytes that it can lower it by at most.
nlohmann::json upper_bounds_json(const base::StudyPlan& plan, const std::optional<base::ControlPeak>& control) {
  if (!control) return nullptr;
  nlohmann::json arms = nlohmann::json::object();
  for (const auto& arm : plan.arms)
    if (is_bounded(arm)) arms[arm.arm] = rules::upper_bound_bytes(control->peak, arm.recompute);
  return {{"control", control_json(*control)}, {"upper_bound_bytes", arms}};
}

// One row a block of each group.
std::string order_text(const base::StudyPlan& plan) {
  std::vector<Row> rows;
  const protocol::Trial* before = nullptr;
  for (const auto& trial : plan.trials) {
    if (before == nullptr || before->block != trial.block || before->group_id != trial.group_id)
      rows.push_back({"block " + std::to_string(trial.block)});
    rows.back().push_back(trial.arm);
    before = &trial;
  }
  std::size_t num_columns = 0;
  for (const Row& row : rows) num_columns = std::max(num_columns, row.size());
  for (Row& row : rows) row.resize(num_columns);
  return text_table(rows);
}

std::string rounds_text(const base::StudyPlan& plan) {
  const std::vector<strategy::Round> rounds = strategy::rounds_to_come(plan);
  if (rounds.empty()) return "";
  std::vector<Row> rows = {{"what may follow", "trials at most", "arms"}};
  for (const strategy::Round& round : rounds) {
    std::string arms;
    for (const std::string& arm : round.arms) arms += (arms.empty() ? "" : ", ") + arm;
    rows.push_back({round.name, std::to_string(round.num_trials_at_most), arms});
  }
  std::string text = "\nstrategy " + plan.strategy;
  if (plan.budget_per_rank_bytes) text += ", for at most " + spec::format_size_bytes(*plan.budget_per_rank_bytes) + " a rank";
  return text + "\n" + text_table(rows);
}

nlohmann::json rounds_json(const base::StudyPlan& plan) {
  nlohmann::json rounds = nlohmann::json::array();
  for (const strategy::Round& round : strategy::rounds_to_come(plan))
    rounds.push_back({{"name", round.name}, {"arms", round.arms}, {"num_trials_at_most", round.num_trials_at_most}});
  return rounds;
}

double rounded_hours(std::size_t num_trials, const PlanCost& cost) {
  const double trial_hours = static_cast<double>(cost.timeout_ms) / 3'600'000.0;
  return std::round(static_cast<double>(num_trials) * static_cast<double>(cost.num_ranks) * trial_hours * 1000) / 1000;
}

std::string cost_text(const PlanCost& cost) {
  std::ostringstream text;
  text << cost.num_trials << " trials of " << cost.num_ranks << (cost.num_ranks == 1 ? " rank" : " ranks") << ", each ended after "
       << spec::format_duration_ms(cost.timeout_ms) << ": at most " << spec::format_number(cost.rank_hours_at_most) << " rank-hours";
  if (cost.num_trials_at_most > cost.num_trials)
    text << "; with all that may follow " << cost.num_trials_at_most << " trials, at most "
         << spec::format_number(cost.rank_hours_at_most_in_all) << " rank-hours";
  return text.str();
}

}  // namespace

PlanCost cost_of(const base::StudyPlan& plan) {
  PlanCost cost;
  cost.num_trials = plan.trials.size();
  if (plan.trials.empty()) return cost;
  cost.num_ranks = static_cast<std::int64_t>(protocol::started_ranks(plan.trials.front()).size());
  cost.timeout_ms = plan.trials.front().timeout_ms;
  cost.num_trials_at_most = cost.num_trials;
  for (const strategy::Round& round : strategy::rounds_to_come(plan))
    cost.num_trials_at_most += static_cast<std::size_t>(round.num_trials_at_most);
  cost.rank_hours_at_most = rounded_hours(cost.num_trials, cost);
  cost.rank_hours_at_most_in_all = rounded_hours(cost.num_trials_at_most, cost);
  return cost;
}

std::string plan_text(const SweepInput& input, const PlanKnowledge& known) {
  const base::StudyPlan& plan = input.plan;
  std::ostringstream text;
  text << "study " << plan.name << " (" << plan.study_id << "), trainer build " << plan.trainer_build_id << "\n"
       << "layout: " << base::layout_text(input.spec.common.parallel) << "\n\n"
       << "arms, " << groups_text(plan) << "\n"
       << arms_text(plan, known) << "\norder (seed " << plan.order_seed << ")\n"
       << order_text(plan) << rounds_text(plan) << "\ncost: " << cost_text(cost_of(plan)) << "\n";
  return text.str();
}

std::string origin_text(const SweepInput& input) {
  std::vector<Row> rows = {{"key", "value", "origin"}};
  for (const auto& row : input.spec.origins) rows.push_back({row.key, row.value.empty() ? "-" : row.value, row.origin});
  return text_table(rows);
}

nlohmann::json plan_json(const SweepInput& input, const PlanKnowledge& known) {
  const PlanCost cost = cost_of(input.plan);
  nlohmann::json document = {{"schema_version", 1},
                             {"study", base::to_json(input.plan)},
                             {"cost",
                              {{"num_trials", cost.num_trials},
                               {"num_ranks", cost.num_ranks},
                               {"timeout_ms", cost.timeout_ms},
                               {"rank_hours_at_most", cost.rank_hours_at_most},
                               {"num_trials_at_most", cost.num_trials_at_most},
                               {"rank_hours_at_most_in_all", cost.rank_hours_at_most_in_all}}},
                             {"rounds_to_come", rounds_json(input.plan)},
                             {"upper_bounds", upper_bounds_json(input.plan, known.control)},
                             {"prediction", known.prediction ? to_json(*known.prediction) : nlohmann::json(nullptr)},
                             {"origins", nlohmann::json::array()},
                             {"warnings", nlohmann::json::array()}};
  for (const auto& row : input.spec.origins)
    document["origins"].push_back({{"key", row.key}, {"value", row.value}, {"origin", row.origin}});
  for (const auto& warning : input.warnings) document["warnings"].push_back(to_string(warning));
  return document;
}

}  // namespace rematch::cli

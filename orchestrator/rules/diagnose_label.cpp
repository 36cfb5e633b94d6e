// A label without effect: it wraps nothing, it wraps nothing where the peak is, or what it wraps is never replayed.
#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/next_command.h"
#include "orchestrator/rules/steady_steps.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::rules {

namespace {

using base::RankRows;

std::int64_t count_of(const protocol::LabelCounts& counts, const std::string& label) {
  const auto found = counts.find(label);
  return found == counts.end() ? 0 : found->second;
}

// nullopt: a rank has not said what it wrapped.
std::optional<std::int64_t> num_sites(const base::AttemptRows& attempt, const std::string& label) {
  std::int64_t sum = 0;
  for (const RankRows& rank : attempt.ranks) {
    if (!rank.model) return std::nullopt;
    sum += count_of(rank.model->sites, label);
  }
  return sum;
}

std::int64_t num_replays(const base::AttemptRows& attempt, const std::string& label) {
  std::int64_t sum = 0;
  for (const RankRows& rank : attempt.ranks)
    for (const protocol::StepRecord& step : rank.steps) sum += count_of(step.replays, label);
  return sum;
}

std::string ranks_with(const base::AttemptRows& attempt, const std::string& label) {
  std::string text;
  for (const RankRows& rank : attempt.ranks)
    if (const std::int64_t sites = count_of(rank.model->sites, label); sites > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(sites) + " on rank " + std::to_string(rank.rank);
  return text;
}

Found nothing_wrapped(const std::string& finding, const std::string& label) {
  return {"Inactive: " + finding + ".",
          "Leave the label out, or check the provider and the kinds of layers: `rematch explain` says where a label has a boundary.", "",
          explain_command(label)};
}

std::optional<Found> not_planned(const base::ArmRow& row) {
  if (row.status != base::ArmStatus::kInactive) return std::nullopt;
  const std::vector<std::string> keys = protocol::counted_keys(row.recompute);
  return nothing_wrapped("the model has no region for it: " + row.reason, keys.empty() ? "inactive" : keys.front());
}

std::optional<Found> not_replayed(const base::StudyPlan& plan, const base::AttemptRows& attempt, const std::string& label,
                                  std::int64_t sites) {
  const std::int64_t steps = num_steps_completed(attempt);
  if (steps == 0 || num_replays(attempt, label) > 0) return std::nullopt;
  const std::string numbers =
      label + " wrapped " + std::to_string(sites) + " regions and replayed none in " + std::to_string(steps) + " steps";
  const std::string& graphs = attempt.trial.features.cuda_graph_impl;
  if (graphs == "none")
    return Found{"Bypassed: " + numbers + ", without CUDA graphs.",
                 "Look for what runs the layers past the wrapper, such as an evaluation without gradients or a provider's own kernel.", "",
                 study_command("show", {attempt.trial.arm}, plan)};
  return Found{"Bypassed by graph capture: " + numbers + ", with cuda_graph_impl " + graphs + ".",
               "Put the boundary wholly inside or wholly outside of the graph's scope, or measure with cuda_graph_impl: none.", "",
               run_command(plan, {"features.cuda_graph_impl=none"})};
}

// It acts, and not where the peak is.
std::optional<Found> not_on_hot_rank(const base::StudyPlan& plan, const TellingRun& run, const std::string& label, std::int64_t sites) {
  if (!run.arm.effect || !run.arm.figures || !is_hardly_any(run.arm.effect->peak_delta_fraction)) return std::nullopt;
  const RankRows* hot = base::find_rank(run.attempt.ranks, run.arm.figures->hot.rank);
  if (hot == nullptr || !hot->model || count_of(hot->model->sites, label) > 0) return std::nullopt;
  const std::string activity = activity_text(run.attempt, label);
  return Found{"Outside of the layers that peak: rank " + std::to_string(hot->rank) + ", which has the largest peak, has none of the " +
                   std::to_string(sites) + " regions of " + label + " (" + ranks_with(run.attempt, label) + "); the peak changes by " +
                   change_text(run.arm.effect->peak_delta_bytes, run.arm.effect->peak_delta_fraction) + ".",
               "Measure a label that rank " + std::to_string(hot->rank) + " has regions of, or place the layers otherwise.",
               activity.empty() ? "" : "an inactive label: " + activity, study_command("show", {run.arm.effect->against}, plan)};
}

std::optional<Found> look_at(const base::StudyPlan& plan, const TellingRun& run) {
  for (const std::string& label : protocol::counted_keys(run.row.recompute)) {
    const auto sites = num_sites(run.attempt, label);
    if (!sites) return std::nullopt;
    if (*sites == 0)
      return nothing_wrapped(label + " wrapped no region on any of " + std::to_string(run.attempt.ranks.size()) + " ranks", label);
    if (auto found = not_replayed(plan, run.attempt, label, *sites)) return found;
    if (auto found = not_on_hot_rank(plan, run, label, *sites)) return found;
  }
  return std::nullopt;
}

}  // namespace

std::vector<base::Diagnosis> find_label_without_effect(const Evidence& evidence, std::string_view symptom) {
  return find_in_arms(evidence, symptom, [&](const base::ArmRow& row, const base::ArmVerdict& arm) -> std::optional<Found> {
    if (auto found = not_planned(row)) return found;
    const base::AttemptRows* attempt = telling_attempt(evidence, arm.arm);
    return attempt == nullptr ? std::nullopt : look_at(evidence.study.plan, {row, arm, *attempt});
  });
}

}  // namespace rematch::rules

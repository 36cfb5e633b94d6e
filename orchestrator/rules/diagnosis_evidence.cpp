#include "orchestrator/rules/diagnosis_evidence.h"

#include <algorithm>

#include "orchestrator/base/number_text.h"
#include "orchestrator/rules/judge_runs.h"

namespace rematch::rules {

namespace {

constexpr double kHardlyAnyFraction = 0.005;

}  // namespace

std::vector<base::Diagnosis> find_in_arms(const Evidence& evidence, std::string_view symptom,
                                          const std::function<std::optional<Found>(const base::ArmRow&, const base::ArmVerdict&)>& look) {
  std::vector<base::Diagnosis> found;
  for (std::size_t i = 0; i < evidence.verdict.arms.size(); ++i) {
    const base::ArmVerdict& arm = evidence.verdict.arms[i];
    if (auto one = look(evidence.study.plan.arms[i], arm))
      found.push_back({.symptom = std::string(symptom),
                       .arm = arm.arm,
                       .finding = std::move(one->finding),
                       .next_step = std::move(one->next_step),
                       .why = {},
                       .ruled_out = std::move(one->ruled_out),
                       .command = std::move(one->command)});
  }
  return found;
}

std::vector<base::Diagnosis> find_in_runs(const Evidence& evidence, std::string_view symptom,
                                          const std::function<std::optional<Found>(const TellingRun&)>& look) {
  return find_in_arms(evidence, symptom, [&](const base::ArmRow& row, const base::ArmVerdict& arm) -> std::optional<Found> {
    const base::AttemptRows* attempt = telling_attempt(evidence, arm.arm);
    if (attempt == nullptr) return std::nullopt;
    return look({row, arm, *attempt});
  });
}

const base::AttemptRows* telling_attempt(const Evidence& evidence, const std::string& arm) {
  const base::AttemptRows* first = nullptr;
  for (std::size_t index : judged_attempts(evidence.study, arm)) {
    const base::AttemptRows& attempt = evidence.study.attempts[index];
    if (attempt.failure) return &attempt;
    if (first == nullptr) first = &attempt;
  }
  return first;
}

const base::ArmVerdict* arm_of_label(const Evidence& evidence, const std::string& group_id, const std::string& label) {
  for (std::size_t i = 0; i < evidence.verdict.arms.size(); ++i)
    if (evidence.verdict.arms[i].group_id == group_id && evidence.study.plan.arms[i].recompute.recompute_modules == std::vector{label})
      return &evidence.verdict.arms[i];
  return nullptr;
}

bool selects(const protocol::RecomputeSpec& recompute, const std::string& label) {
  if (recompute.recompute_granularity != "selective" || !recompute.recompute_modules) return false;
  return std::count(recompute.recompute_modules->begin(), recompute.recompute_modules->end(), label) > 0;
}

bool ran_out_of_memory(const base::ArmVerdict& arm) {
  return arm.outcome == base::Outcome::kFail && arm.failure && arm.failure->kind == protocol::FailureKind::kOom;
}

std::string activity_text(const base::AttemptRows& attempt, const std::string& label) {
  std::int64_t num_sites = 0;
  std::int64_t num_replays = 0;
  for (const base::RankRows& rank : attempt.ranks) {
    if (!rank.model) return "";
    if (const auto sites = rank.model->sites.find(label); sites != rank.model->sites.end()) num_sites += sites->second;
    for (const protocol::StepRecord& step : rank.steps)
      if (const auto replays = step.replays.find(label); replays != step.replays.end()) num_replays += replays->second;
  }
  if (num_sites == 0 || num_replays == 0) return "";
  return "it wrapped " + std::to_string(num_sites) + " regions and replayed them " + std::to_string(num_replays) + " times";
}

std::string no_fragmentation_text(const base::ArmVerdict& arm) {
  const auto& failure = arm.failure;
  if (!failure || !failure->requested_bytes || !failure->allocated_bytes || !failure->reserved_bytes) return "";
  const std::int64_t free_bytes = *failure->reserved_bytes - *failure->allocated_bytes;
  if (free_bytes >= *failure->requested_bytes) return "";
  return "fragmentation: " + base::bytes_text(free_bytes) + " were reserved and free, less than the " +
         base::bytes_text(*failure->requested_bytes) + " that were asked for";
}

std::optional<std::int64_t> num_available(const base::AttemptRows& attempt, const std::string& label) {
  std::int64_t sum = 0;
  for (const base::RankRows& rank : attempt.ranks) {
    if (!rank.model) return std::nullopt;
    const auto found = rank.model->sites_available.find(label);
    if (found != rank.model->sites_available.end()) sum += found->second;
  }
  return sum;
}

bool is_hardly_any(std::optional<double> peak_delta_fraction) { return peak_delta_fraction && *peak_delta_fraction > -kHardlyAnyFraction; }

std::string change_text(std::int64_t bytes, std::optional<double> fraction) {
  return base::signed_bytes_text(bytes) + (fraction ? " (" + base::percent_text(*fraction) + ")" : "");
}

std::string moment_text(const base::AttributedPeak& peak) {
  return "rank " + std::to_string(peak.rank) + " in " + std::string(protocol::to_string(peak.phase)) +
         (peak.step ? " of step " + std::to_string(*peak.step) : "");
}

}  // namespace rematch::rules

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
      found.push_back({std::string(symptom), arm.arm, std::move(one->finding), std::move(one->next_step)});
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

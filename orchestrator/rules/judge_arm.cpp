#include "orchestrator/rules/judge_arm.h"

#include <algorithm>
#include <string>

#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/stats/median.h"
#include "orchestrator/stats/wilson.h"

namespace rematch::rules {

namespace {

using base::ArmVerdict;
using base::Outcome;
using base::RunVerdict;
using RunList = std::vector<const RunVerdict*>;

Outcome unplanned_outcome(base::ArmStatus status) {
  switch (status) {
    case base::ArmStatus::kInactive: return Outcome::kInactive;
    case base::ArmStatus::kInvalid: return Outcome::kInvalid;
    case base::ArmStatus::kSkipped: return Outcome::kSkipped;
    case base::ArmStatus::kWaiting:
    case base::ArmStatus::kPlanned: return Outcome::kNotRun;
  }
  return Outcome::kNotRun;
}

const RunVerdict* first_with(const RunList& judged, Outcome outcome) {
  auto found = std::find_if(judged.begin(), judged.end(), [&](const RunVerdict* run) { return run->outcome == outcome; });
  return found == judged.end() ? nullptr : *found;
}

std::string shortfall_text(const RunVerdict& run) {
  std::string text;
  for (const base::Shortfall& shortfall : run.shortfalls) text += (text.empty() ? "" : "; ") + shortfall.rule + ": " + shortfall.message;
  return text;
}

// One run that is no control or shows nothing of its label decides for the arm.
void decide_outcome(const RunList& judged, ArmVerdict& verdict) {
  for (Outcome decisive : {Outcome::kInvalid, Outcome::kInactive})
    if (const RunVerdict* run = first_with(judged, decisive)) {
      verdict.outcome = decisive;
      verdict.reason = run->shortfalls.front().message;
      return;
    }
  const bool all_pass = verdict.num_passed == verdict.num_judged;
  verdict.outcome = all_pass ? Outcome::kPass : verdict.num_passed == 0 ? Outcome::kFail : Outcome::kBorderline;
  if (const RunVerdict* failed = first_with(judged, Outcome::kFail)) {
    verdict.failure = failed->failure;
    verdict.reason = failed->failure ? failed->failure->message : shortfall_text(*failed);
  }
}

void decide_without_judged(const std::vector<RunVerdict>& runs, ArmVerdict& verdict) {
  for (const RunVerdict& run : runs)
    if (run.arm == verdict.arm) verdict.outcome = run.outcome;
  if (verdict.outcome != Outcome::kNotRun) verdict.reason = "no attempt of it came to its end";
}

template <typename Value, typename Get>
std::optional<Value> largest(const RunList& passed, Get get) {
  std::optional<Value> most;
  for (const RunVerdict* run : passed)
    if (std::optional<Value> value = get(*run->figures)) most = most ? std::max(*most, *value) : *value;
  return most;
}

template <typename Get>
std::optional<double> median_over(const RunList& passed, Get get) {
  std::vector<double> samples;
  for (const RunVerdict* run : passed)
    if (std::optional<double> sample = get(*run->figures)) samples.push_back(*sample);
  return stats::median(samples);
}

bool has_lower_peak(const RunVerdict* a, const RunVerdict* b) { return a->figures->hot.allocated_bytes < b->figures->hot.allocated_bytes; }

base::ArmFigures figures_of(const RunList& passed) {
  using base::RunFigures;
  base::ArmFigures figures;
  figures.num_runs = static_cast<std::int64_t>(passed.size());
  const RunVerdict& largest_run = **std::max_element(passed.begin(), passed.end(), has_lower_peak);
  figures.hot = largest_run.figures->hot;
  figures.rank_peaks = largest_run.rank_peaks;
  figures.smallest_peak_allocated_bytes = (*std::min_element(passed.begin(), passed.end(), has_lower_peak))->figures->hot.allocated_bytes;
  figures.activation_peak_bytes = largest<std::int64_t>(passed, [](const RunFigures& f) { return f.activation_peak_bytes; });
  figures.held_after_forward_bytes = largest<std::int64_t>(passed, [](const RunFigures& f) { return f.held_after_forward_bytes; });
  figures.median_step_time_ns = median_over(passed, [](const RunFigures& f) { return f.median_step_time_ns; });
  figures.tflops_per_rank = median_over(passed, [](const RunFigures& f) { return f.tflops_per_rank; });
  figures.estimate = largest_run.figures->estimate;
  for (auto member : {&base::MeanTimes::mean_step_time_ns, &base::MeanTimes::window_step_time_ns, &base::MeanTimes::tflops_of_mean_time,
                      &base::MeanTimes::tflops_mean_over_steps})
    figures.means.*member = median_over(passed, [member](const RunFigures& f) { return f.means.*member; });
  return figures;
}

base::PassRate pass_rate(std::int64_t num_passed, std::int64_t num_judged) {
  constexpr double kConfidence = 0.95;
  const stats::Share share = stats::wilson_interval(num_passed, num_judged, kConfidence);
  return {share.low, share.high};
}

}  // namespace

ArmVerdict judge_arm(const base::StudyRows& study, const std::vector<RunVerdict>& runs, const base::ArmRow& arm) {
  ArmVerdict verdict;
  verdict.arm = arm.arm;
  verdict.group_id = arm.group_id;
  verdict.is_control = arm.is_control;
  verdict.outcome = unplanned_outcome(arm.status);
  verdict.reason = arm.reason;
  if (arm.status != base::ArmStatus::kPlanned) return verdict;
  auto is_mine = [&](const protocol::Trial& trial) { return trial.arm == arm.arm; };
  verdict.num_planned = std::count_if(study.plan.trials.begin(), study.plan.trials.end(), is_mine);

  RunList judged;
  RunList passed;
  for (std::size_t index : judged_attempts(study, arm.arm)) {
    judged.push_back(&runs[index]);
    if (runs[index].outcome == Outcome::kPass) passed.push_back(&runs[index]);
    if (!verdict.provenance) verdict.provenance = provenance_of(study.attempts[index]);
  }
  verdict.num_judged = static_cast<std::int64_t>(judged.size());
  verdict.num_passed = static_cast<std::int64_t>(passed.size());
  if (!judged.empty()) verdict.pass_rate = pass_rate(verdict.num_passed, verdict.num_judged);
  if (judged.empty())
    decide_without_judged(runs, verdict);
  else
    decide_outcome(judged, verdict);
  const bool carries_figures = verdict.outcome == Outcome::kPass || verdict.outcome == Outcome::kBorderline;
  if (carries_figures) verdict.figures = figures_of(passed);
  if (!carries_figures && verdict.outcome != Outcome::kFail) verdict.provenance.reset();  // nothing to say where it comes from
  return verdict;
}

std::vector<std::size_t> passing_attempts(const base::StudyRows& study, const std::vector<RunVerdict>& runs, const std::string& arm) {
  std::vector<std::size_t> passing = judged_attempts(study, arm);
  std::erase_if(passing, [&](std::size_t index) { return runs[index].outcome != Outcome::kPass; });
  return passing;
}

std::optional<std::size_t> attempt_of_peaks(const base::StudyRows& study, const std::vector<RunVerdict>& runs, const ArmVerdict& arm) {
  if (arm.figures) {
    const std::vector<std::size_t> passing = passing_attempts(study, runs, arm.arm);
    return *std::max_element(passing.begin(), passing.end(),
                             [&](std::size_t a, std::size_t b) { return has_lower_peak(&runs[a], &runs[b]); });
  }
  if (arm.outcome != Outcome::kFail) return std::nullopt;
  for (const std::size_t index : judged_attempts(study, arm.arm))
    if (runs[index].outcome == Outcome::kFail) return index;
  return std::nullopt;
}

}  // namespace rematch::rules

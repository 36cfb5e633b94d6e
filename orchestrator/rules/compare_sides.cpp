#include "orchestrator/rules/compare_sides.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "orchestrator/rules/match.h"
#include "orchestrator/rules/memory_verdict.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/time_verdicts.h"
#include "orchestrator/stats/mean_difference.h"
#include "orchestrator/stats/median.h"

namespace rematch::rules {

namespace {

using base::FieldDifference;
using base::RunSummary;

constexpr double kConfidence = 0.95;

bool is_conclusive(const RunSummary& run) {
  return run.outcome != base::Outcome::kInterrupted && run.outcome != base::Outcome::kLost && run.outcome != base::Outcome::kNotRun;
}

std::vector<double> log_times(const ComparedSide& side) {
  std::vector<double> times;
  for (const RunSummary& run : side.runs)
    if (run.step_time_ns.value_or(0) > 0) times.push_back(std::log(*run.step_time_ns));
  return times;
}

std::optional<TimeDifference> compare_times(const ComparedSide& own, const ComparedSide& against, double smallest_effect) {
  const auto difference = stats::mean_difference(log_times(own), log_times(against), kConfidence);
  if (!difference) return std::nullopt;
  TimeDifference time{std::expm1(difference->value), std::nullopt, std::nullopt, std::nullopt};
  if (!difference->low) return time;
  time.low = std::expm1(*difference->low);
  time.high = std::expm1(*difference->high);
  time.word = time_word(*time.low, *time.high, smallest_effect);
  return time;
}

Peaks peaks_of(const ComparedSide& side) {
  Peaks peaks;
  for (const RunSummary& run : side.runs)
    if (run.peak_allocated_bytes) peaks.push_back(*run.peak_allocated_bytes);
  return peaks;
}

// What was recorded of both, sorted into what may differ and what may not.
void match_sides(const ComparedSide& own, const ComparedSide& against, const std::vector<std::string>& varied, SideComparison& result) {
  const std::string variation = own.variation == against.variation ? own.variation : "";
  base::Unmatched unmatched{own.record->trial.trial_id, own.record->attempt, own.arm, against.record->trial.trial_id, {}};
  for (FieldDifference& difference : field_differences(*own.record, *against.record, variation)) {
    const auto covers = [&](const std::string& name) { return is_covered(difference.field, name); };
    const bool is_varied = std::any_of(varied.begin(), varied.end(), covers);
    (is_varied ? result.varied : unmatched.differences).push_back(std::move(difference));
  }
  if (!unmatched.differences.empty()) result.unmatched.push_back(std::move(unmatched));
  for (const ComparedSide* side : {&own, &against})
    result.unmatched.insert(result.unmatched.end(), side->unmatched.begin(), side->unmatched.end());
}

std::string provenance_text(const std::optional<protocol::Provenance>& provenance) {
  return provenance ? std::string(protocol::to_string(*provenance)) : "not recorded";
}

std::string refusal_of(const SideComparison& result, Matching matching) {
  if (result.provenance != result.against_provenance)
    return "figures of two provenances: " + provenance_text(result.provenance) + " against " + provenance_text(result.against_provenance);
  if (result.unmatched.empty() || matching == Matching::kForced) return "";
  return "differ beside recompute in " + fields_text(result.unmatched.front().differences);
}

}  // namespace

std::vector<RunSummary> runs_that_count(const std::vector<RunSummary>& runs) {
  std::map<std::string, std::size_t> last;  // by trial
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (is_conclusive(runs[i])) last[runs[i].trial_id] = i;
  std::vector<RunSummary> counting;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (const auto found = last.find(runs[i].trial_id); found != last.end() && found->second == i) counting.push_back(runs[i]);
  return counting;
}

const RunSummary* run_that_stands(const std::vector<RunSummary>& runs) {
  const auto passed = std::find_if(runs.begin(), runs.end(), [](const RunSummary& run) { return run.outcome == base::Outcome::kPass; });
  if (passed != runs.end()) return &*passed;
  return runs.empty() ? nullptr : &runs.front();
}

SideFigures side_figures(const ComparedSide& side) {
  SideFigures figures;
  figures.num_runs = static_cast<std::int64_t>(side.runs.size());
  std::vector<double> times;
  for (const RunSummary& run : side.runs) {
    if (run.outcome != base::Outcome::kPass) continue;
    ++figures.num_passed;
    if (run.step_time_ns) times.push_back(*run.step_time_ns);
    if (run.peak_allocated_bytes <= figures.peak_allocated_bytes) continue;
    figures.peak_allocated_bytes = run.peak_allocated_bytes;
    figures.peak_reserved_bytes = run.peak_reserved_bytes;
    figures.activation_peak_bytes = run.activation_peak_bytes;
  }
  figures.step_time_ns = stats::median(times);
  return figures;
}

SideComparison compare_sides(const ComparedSide& own, const ComparedSide& against, const ComparisonTerms& terms) {
  SideComparison result{.name = own.name,
                        .against_name = against.name,
                        .outcome = own.outcome,
                        .against_outcome = against.outcome,
                        .reason = own.reason,
                        .own = side_figures(own),
                        .against = side_figures(against)};
  if (own.record == nullptr || against.record == nullptr) return result;
  result.provenance = provenance_of(*own.record);
  result.against_provenance = provenance_of(*against.record);
  match_sides(own, against, terms.varied, result);
  result.refusal = refusal_of(result, terms.matching);
  if (!result.is_compared() || result.own.num_passed == 0 || result.against.num_passed == 0) return result;
  result.time = compare_times(own, against, terms.smallest_effect);
  if (result.provenance != protocol::Provenance::kPredicted)
    result.memory = judge_memory(peaks_of(own), peaks_of(against), *result.own.peak_allocated_bytes - *result.against.peak_allocated_bytes,
                                 terms.num_compared);
  return result;
}

bool is_covered(const std::string& field, const std::string& name) { return field == name || field.starts_with(name + "."); }

}  // namespace rematch::rules

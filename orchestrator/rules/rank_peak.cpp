#include "orchestrator/rules/rank_peak.h"

#include <algorithm>
#include <limits>

namespace rematch::rules {

namespace {

using Folds = std::vector<const protocol::PhasePeaks*>;

// What the rank recorded up to and including a step, in order of time.
Folds folds_through_step(const base::RankRows& rank, std::int64_t last_step) {
  Folds folds;
  if (rank.model) folds.push_back(&rank.model->phases);
  for (const protocol::StepRecord& step : rank.steps)
    if (step.step <= last_step) folds.push_back(&step.phases);
  return folds;
}

// Every fold of watermarks that the rank recorded, in order of time.
Folds folds_of(const base::RankRows& rank) {
  Folds folds = folds_through_step(rank, std::numeric_limits<std::int64_t>::max());
  if (rank.oom) folds.push_back(&rank.oom->phases);
  return folds;
}

base::RankPeak peak_of_folds(std::int64_t rank, const Folds& folds) {
  base::RankPeak peak;
  peak.rank = rank;
  for (const protocol::PhasePeaks* fold : folds)
    for (const auto& [phase, watermark] : *fold) {
      peak.reserved_bytes = std::max(peak.reserved_bytes, watermark.peak_reserved_bytes);
      if (watermark.peak_allocated_bytes <= peak.allocated_bytes) continue;
      peak.allocated_bytes = watermark.peak_allocated_bytes;
      peak.binding_phase = phase;
    }
  return peak;
}

}  // namespace

base::RankPeak peak_of_rank(const base::RankRows& rank) { return peak_of_folds(rank.rank, folds_of(rank)); }

base::RankPeak peak_through_step(const base::RankRows& rank, std::int64_t step) {
  return peak_of_folds(rank.rank, folds_through_step(rank, step));
}

std::map<protocol::Phase, std::int64_t> phase_peaks_bytes(const base::RankRows& rank) {
  std::map<protocol::Phase, std::int64_t> peaks;
  for (const protocol::PhasePeaks* fold : folds_of(rank))
    for (const auto& [phase, watermark] : *fold) peaks[phase] = std::max(peaks[phase], watermark.peak_allocated_bytes);
  return peaks;
}

std::vector<base::RankPeak> peaks_of_ranks(const base::AttemptRows& attempt) {
  std::vector<base::RankPeak> peaks;
  for (const base::RankRows& rank : attempt.ranks) peaks.push_back(peak_of_rank(rank));
  return peaks;
}

std::optional<base::RankPeak> hot_rank(const std::vector<base::RankPeak>& peaks) {
  auto smaller = [](const base::RankPeak& a, const base::RankPeak& b) { return a.allocated_bytes < b.allocated_bytes; };
  auto hottest = std::max_element(peaks.begin(), peaks.end(), smaller);
  if (hottest == peaks.end()) return std::nullopt;
  return *hottest;
}

std::optional<std::int64_t> activation_peak_bytes(const base::AttemptRows& attempt) {
  std::optional<std::int64_t> peak;
  for (const base::RankRows& rank : attempt.ranks)
    for (const protocol::PhasePeaks* fold : folds_of(rank))
      for (const auto& [phase, watermark] : *fold)
        if (phase == protocol::Phase::kForward || phase == protocol::Phase::kBackward)
          peak = std::max(peak.value_or(0), watermark.peak_allocated_bytes);
  return peak;
}

}  // namespace rematch::rules

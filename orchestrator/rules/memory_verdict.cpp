#include "orchestrator/rules/memory_verdict.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/stats/plateau.h"
#include "orchestrator/stats/students.h"

namespace rematch::rules {

namespace {

using base::MemoryWord;

constexpr double kErrorRate = 0.05;

bool all_equal(const Peaks& peaks) {
  return std::all_of(peaks.begin(), peaks.end(), [&](auto peak) { return peak == peaks.front(); });
}

double mean(const Peaks& peaks) { return std::accumulate(peaks.begin(), peaks.end(), 0.0) / static_cast<double>(peaks.size()); }

double squared_deviations(const Peaks& peaks) {
  double sum = 0;
  for (std::int64_t peak : peaks) sum += (static_cast<double>(peak) - mean(peaks)) * (static_cast<double>(peak) - mean(peaks));
  return sum;
}

MemoryWord word_of(std::int64_t low, std::int64_t high, std::int64_t equal_within) {
  if (high < 0) return MemoryWord::kLower;
  if (low > 0) return MemoryWord::kHigher;
  return low >= -equal_within && high <= equal_within ? MemoryWord::kEqual : MemoryWord::kUndecided;
}

Peaks peaks_of(const base::StudyRows& study, const base::StudyVerdict& verdict, const std::string& arm) {
  Peaks peaks;
  for (std::size_t index : judged_attempts(study, arm))
    if (const auto& figures = verdict.runs[index].figures) peaks.push_back(figures->hot.allocated_bytes);
  return peaks;
}

}  // namespace

base::MemoryVerdict judge_memory(const Peaks& arm, const Peaks& reference, std::int64_t shown_delta_bytes, std::int64_t num_compared) {
  const std::size_t freedom = arm.size() + reference.size() - 2;
  if (freedom == 0) return {};  // no repeats: nothing says how far they would agree
  if (all_equal(arm) && all_equal(reference)) return {.word = word_of(shown_delta_bytes, shown_delta_bytes, 0)};
  const auto degrees = static_cast<double>(freedom);
  const double variance = (squared_deviations(arm) + squared_deviations(reference)) / degrees;
  const double runs = 1 / static_cast<double>(arm.size()) + 1 / static_cast<double>(reference.size());
  const double critical = stats::students_critical_value(degrees, 1 - kErrorRate / static_cast<double>(num_compared));
  const double half = critical * std::sqrt(variance * runs);
  const double difference = mean(arm) - mean(reference);
  base::MemoryVerdict verdict;
  verdict.low_bytes = std::min(shown_delta_bytes, static_cast<std::int64_t>(std::floor(difference - half)));
  verdict.high_bytes = std::max(shown_delta_bytes, static_cast<std::int64_t>(std::ceil(difference + half)));
  const std::int64_t allowed = stats::allowed_growth_bytes(static_cast<std::int64_t>(mean(reference)));
  verdict.word = word_of(*verdict.low_bytes, *verdict.high_bytes, allowed);
  return verdict;
}

void compare_memory(const base::StudyRows& study, base::StudyVerdict& verdict) {
  if (base::is_predicted(study.plan)) return;
  const auto is_beside = [](const base::ArmVerdict& arm, const base::ArmVerdict& other) {
    return other.effect && other.group_id == arm.group_id;
  };
  for (base::ArmVerdict& arm : verdict.arms) {
    if (!arm.effect) continue;
    const auto num_compared =
        std::count_if(verdict.arms.begin(), verdict.arms.end(), [&](const auto& other) { return is_beside(arm, other); });
    arm.effect->memory = judge_memory(peaks_of(study, verdict, arm.arm), peaks_of(study, verdict, arm.effect->against),
                                      arm.effect->peak_delta_bytes, num_compared);
  }
}

}  // namespace rematch::rules

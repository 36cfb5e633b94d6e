#include "orchestrator/rules/time_noise.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace rematch::rules {

namespace {

std::optional<double> of_intervals(const base::StudyVerdict& verdict, const base::GroupVerdict& group) {
  std::optional<double> widest;
  for (const base::ArmVerdict& arm : verdict.arms) {
    if (arm.group_id != group.group_id || !arm.effect || !arm.effect->time) continue;
    const double half_width = (arm.effect->time->high - arm.effect->time->low) / 2;
    widest = std::max(widest.value_or(0), half_width * std::sqrt(4.0 / 3.0));
  }
  return widest;
}

std::optional<double> of_pairs(const base::GroupVerdict& group) {
  std::optional<double> largest;
  for (const base::ControlPair& pair : group.control_pairs)
    largest = std::max(largest.value_or(0), std::abs(pair.time_difference_fraction));
  return largest;
}

bool is_of_group(const base::StudyVerdict& verdict, const std::string& arm, const std::string& group_id) {
  return std::any_of(verdict.arms.begin(), verdict.arms.end(),
                     [&](const auto& each) { return each.arm == arm && each.group_id == group_id; });
}

std::optional<double> of_repeats(const base::StudyVerdict& verdict, const base::GroupVerdict& group) {
  std::map<std::string, std::pair<double, double>> extremes;
  std::optional<double> largest;
  for (const base::RunVerdict& run : verdict.runs) {
    if (!run.figures || !run.figures->median_step_time_ns || !is_of_group(verdict, run.arm, group.group_id)) continue;
    const double time = *run.figures->median_step_time_ns;
    const auto [found, is_first] = extremes.try_emplace(run.arm, time, time);
    if (is_first) continue;
    found->second = {std::min(found->second.first, time), std::max(found->second.second, time)};
    largest = std::max(largest.value_or(0), found->second.second / found->second.first - 1);
  }
  return largest;
}

}  // namespace

TimeNoise time_noise(const base::StudyVerdict& verdict, const base::GroupVerdict& group) {
  if (const auto intervals = of_intervals(verdict, group)) return {NoiseBasis::kIntervals, *intervals};
  if (const auto pairs = of_pairs(group)) return {NoiseBasis::kControlPairs, *pairs};
  if (const auto repeats = of_repeats(verdict, group)) return {NoiseBasis::kRepeats, *repeats};
  return {};
}

std::string_view to_string(NoiseBasis basis) {
  switch (basis) {
    case NoiseBasis::kIntervals: return "the interval of its time";
    case NoiseBasis::kControlPairs: return "the A/A difference";
    case NoiseBasis::kRepeats: return "the spread of an arm's repeats";
    case NoiseBasis::kNone: return "nothing";
  }
  return "unknown";
}

}  // namespace rematch::rules

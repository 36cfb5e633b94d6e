#include "tests/runtime/contract/bench/cost_table.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace rematch::tests {

namespace {

constexpr double kNsPerMs = 1e6;

template <typename Value>
std::vector<double> of_rounds(const ArmSamples& arm, Value value) {
  std::vector<double> values;
  for (const auto& sample : arm.rounds) values.push_back(value(sample));
  return values;
}

// Two models that differ in nothing differ by where their memory lies, which more rounds do not average out.
std::string verdict(const CostRow& row, double aa_difference) {
  if (!row.equal_bits) return "bits differ";
  if (row.cost <= kCostTarget) return "within";
  return row.cost_low - std::abs(aa_difference) / row.work_share > kCostTarget ? "over" : "undecided";
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Bounds median_bounds(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto num = static_cast<double>(values.size());
  const auto left_out = static_cast<std::size_t>(std::max(0.0, std::floor((num - 1.96 * std::sqrt(num)) / 2)));
  return {values[left_out], values[values.size() - 1 - left_out]};
}

CostRow cost_row(const ArmSamples& arm) {
  const auto work_ns = median(of_rounds(arm, [](const auto& s) { return s.work_ns; }));
  const auto costs = of_rounds(arm, [work_ns](const auto& s) { return (s.step_ns - s.control_step_ns) / work_ns; });
  const auto bounds = median_bounds(costs);
  return {.arm = arm.arm,
          .step_ns = median(of_rounds(arm, [](const auto& s) { return s.step_ns; })),
          .step_ratio = median(of_rounds(arm, [](const auto& s) { return s.step_ns / s.control_step_ns; })),
          .wall_ratio = median(of_rounds(arm, [](const auto& s) { return s.wall_ratio; })),
          .work_share = median(of_rounds(arm, [](const auto& s) { return s.work_ns / s.control_step_ns; })),
          .replay_ratio = median(of_rounds(arm, [](const auto& s) { return s.replay_ns / s.work_ns; })),
          .cost = median(costs),
          .cost_low = bounds.low,
          .cost_high = bounds.high,
          .replays = arm.replays,
          .equal_bits = arm.equal_bits};
}

std::string cost_table(const std::vector<CostRow>& rows, double aa_difference) {
  std::ostringstream out;
  out << std::fixed << "| arm | replays | step, ms | step / [] | wall / [] | work replayed | cost | bounds | replay / work | verdict |\n"
      << "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& row : rows)
    out << "| " << row.arm << " | " << row.replays << " | " << std::setprecision(1) << row.step_ns / kNsPerMs << " | "
        << std::setprecision(4) << row.step_ratio << " | " << row.wall_ratio << " | " << std::setprecision(2) << 100 * row.work_share
        << " % | " << row.cost << " | " << row.cost_low << " to " << row.cost_high << " | " << row.replay_ratio << " | "
        << verdict(row, aa_difference) << " |\n";
  return out.str();
}

}  // namespace rematch::tests

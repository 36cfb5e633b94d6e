// From the rounds of one model's arms to the table of what their replays cost (reports/METRICS.md, "Replay cost"). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rematch::tests {

// One arm in one round, beside the control of the same round. CPU times but for the wall ratio.
struct CostSample {
  double wall_ratio = 0;
  double step_ns = 0;
  double control_step_ns = 0;
  double work_ns = 0;    // the replayed parts' forward in the control
  double replay_ns = 0;  // the parts' replays in the arm
};

struct ArmSamples {
  std::string arm;
  std::vector<CostSample> rounds;
  std::int64_t replays = 0;  // a step
  bool equal_bits = true;
};

struct CostRow {
  std::string arm;
  double step_ns = 0, step_ratio = 0, wall_ratio = 0, work_share = 0, replay_ratio = 0;
  double cost = 0, cost_low = 0, cost_high = 0;
  std::int64_t replays = 0;
  bool equal_bits = true;
};

inline constexpr double kCostTarget = 1.10;

CostRow cost_row(const ArmSamples& arm);

// Markdown. `aa_difference`: of the two controls, relative.
std::string cost_table(const std::vector<CostRow>& rows, double aa_difference);

double median(std::vector<double> values);
// Bounds of about 95 % of the median of what the values are drawn from, by their order alone.
struct Bounds {
  double low = 0, high = 0;
};
Bounds median_bounds(std::vector<double> values);

}  // namespace rematch::tests

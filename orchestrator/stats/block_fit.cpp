#include "orchestrator/stats/block_fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "orchestrator/stats/dunnett.h"
#include "orchestrator/stats/students.h"

namespace rematch::stats {

namespace {

// Below it samples that are logarithms of times differ by less than clocks tell apart.
constexpr double kNoNoise = 1e-9;

// The index of each run's block, and how many there are.
struct Blocks {
  std::vector<std::size_t> of_runs;
  std::size_t num = 0;
};

Blocks blocks_of(std::span<const RunPlace> runs) {
  std::map<std::int64_t, std::size_t> indices;
  Blocks blocks;
  for (const RunPlace& run : runs) blocks.of_runs.push_back(indices.emplace(run.block, indices.size()).first->second);
  blocks.num = indices.size();
  return blocks;
}

// What least squares over columns of blocks as well would leave of the values: each less the mean of its block (Frisch and Waugh).
std::vector<double> less_block_means(const Blocks& blocks, std::vector<double> values) {
  std::vector<double> sums(blocks.num, 0.0);
  std::vector<double> counts(blocks.num, 0.0);
  for (std::size_t run = 0; run < values.size(); ++run) {
    sums[blocks.of_runs[run]] += values[run];
    ++counts[blocks.of_runs[run]];
  }
  for (std::size_t run = 0; run < values.size(); ++run) values[run] -= sums[blocks.of_runs[run]] / counts[blocks.of_runs[run]];
  return values;
}

// Columns: arms, then the position; all less the means of their blocks.
Matrix design_of(std::span<const RunPlace> runs, std::size_t num_arms) {
  const Blocks blocks = blocks_of(runs);
  Matrix design(runs.size(), num_arms + 1);
  for (std::size_t column = 0; column <= num_arms; ++column) {
    std::vector<double> values;
    for (const RunPlace& run : runs) values.push_back(column == num_arms ? run.position : run.arm == column ? 1.0 : 0.0);
    values = less_block_means(blocks, std::move(values));
    for (std::size_t run = 0; run < runs.size(); ++run) design(run, column) = values[run];
  }
  return design;
}

}  // namespace

BlockDesign::BlockDesign(std::span<const RunPlace> runs, std::size_t num_arms, double confidence)
    : model_(design_of(runs, num_arms)), blocks_(blocks_of(runs).of_runs), confidence_(confidence) {
  num_blocks_ = static_cast<std::int64_t>(blocks_of(runs).num);
  if (degrees_of_freedom() < 1) {
    refusal_ = std::to_string(runs.size()) + " runs in " + std::to_string(num_blocks_) + (num_blocks_ == 1 ? " block" : " blocks") +
               " leave none to tell noise from effects";
    return;
  }
  compare_arms(num_arms);
  if (refusal_.empty() && compared_arms_.empty()) refusal_ = "no block has runs of two arms";
}

void BlockDesign::compare_arms(std::size_t num_arms) {
  std::vector<double> slope(num_arms + 1, 0.0);
  slope.back() = 1;
  if (!model_.is_estimable(slope)) {
    refusal_ = "a drift of the machine cannot be told from effects, because arms stood in the same order in every block or shared none";
    return;
  }
  for (std::size_t arm = 1; arm < num_arms; ++arm) {
    std::vector<double> contrast(slope.size(), 0.0);
    contrast[0] = -1;
    contrast[arm] = 1;
    if (!model_.is_estimable(contrast)) continue;
    compared_arms_.push_back(arm);
    contrasts_.push_back(std::move(contrast));
  }
  if (compared_arms_.empty()) return;
  contrasts_.push_back(std::move(slope));
  for (const auto& contrast : contrasts_) standard_errors_.push_back(std::sqrt(model_.covariance(contrast, contrast)));
  Matrix correlation(compared_arms_.size(), compared_arms_.size());
  for (std::size_t i = 0; i < compared_arms_.size(); ++i)
    for (std::size_t j = 0; j < compared_arms_.size(); ++j)
      correlation(i, j) = model_.covariance(contrasts_[i], contrasts_[j]) / (standard_errors_[i] * standard_errors_[j]);
  loadings_ = one_factor_loadings(correlation);
  critical_value_ = dunnett_critical_value(loadings_, static_cast<double>(degrees_of_freedom()), confidence_);
}

double BlockDesign::critical_value_of(std::int64_t num_blocks) const {
  const double runs_a_block = static_cast<double>(blocks_.size()) / static_cast<double>(num_blocks_);
  const double more = static_cast<double>(num_blocks - num_blocks_) * (runs_a_block - 1);
  const auto freedom = static_cast<double>(degrees_of_freedom());
  return critical_value_ * alike_critical_value(freedom + more) / alike_critical_value(freedom);
}

// With one correlation for all, that costs as much as a single comparison.
double BlockDesign::alike_critical_value(double degrees_of_freedom) const {
  const double mean = std::accumulate(loadings_.begin(), loadings_.end(), 0.0) / static_cast<double>(loadings_.size());
  return dunnett_critical_value(std::vector<double>(loadings_.size(), mean), degrees_of_freedom, confidence_);
}

BlockFit BlockDesign::fit(std::span<const double> samples) const {
  const Blocks blocks{blocks_, static_cast<std::size_t>(num_blocks_)};
  const Solution solution = model_.solve(less_block_means(blocks, {samples.begin(), samples.end()}));
  const auto freedom = static_cast<double>(degrees_of_freedom());
  BlockFit fit;
  fit.residual_sd = std::sqrt(solution.residual_sum_of_squares / freedom);
  for (std::size_t i = 0; i < compared_arms_.size(); ++i)
    fit.arms.push_back({dot(contrasts_[i], solution.coefficients), critical_value_ * standard_errors_[i] * fit.residual_sd});
  fit.slope = solution.coefficients.back();
  if (fit.residual_sd > kNoNoise)
    fit.slope_p_value = students_p_value(fit.slope / (standard_errors_.back() * fit.residual_sd), freedom);
  else
    fit.slope_p_value = std::abs(fit.slope) > kNoNoise ? 0 : 1;
  return fit;
}

}  // namespace rematch::stats

#include "orchestrator/stats/block_fit.h"

#include <algorithm>
#include <cmath>

#include "orchestrator/stats/dunnett.h"
#include "orchestrator/stats/students.h"

namespace rematch::stats {

namespace {

// Below it samples that are logarithms of times differ by less than clocks tell apart.
constexpr double kNoNoise = 1e-9;

std::vector<std::int64_t> distinct_blocks(std::span<const RunPlace> runs) {
  std::vector<std::int64_t> blocks;
  for (const RunPlace& run : runs) blocks.push_back(run.block);
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  return blocks;
}

double mean_position(std::span<const RunPlace> runs) {
  double sum = 0;
  for (const RunPlace& run : runs) sum += run.position;
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

// Columns: arms, blocks, position.
Matrix design_of(std::span<const RunPlace> runs, std::size_t num_arms) {
  const std::vector<std::int64_t> blocks = distinct_blocks(runs);
  const double middle = mean_position(runs);
  Matrix design(runs.size(), num_arms + blocks.size() + 1);
  for (std::size_t row = 0; row < runs.size(); ++row) {
    const auto block = std::lower_bound(blocks.begin(), blocks.end(), runs[row].block) - blocks.begin();
    design(row, runs[row].arm) = 1;
    design(row, num_arms + static_cast<std::size_t>(block)) = 1;
    design(row, num_arms + blocks.size()) = runs[row].position - middle;
  }
  return design;
}

}  // namespace

BlockDesign::BlockDesign(std::span<const RunPlace> runs, std::size_t num_arms, double confidence)
    : model_(design_of(runs, num_arms)),
      num_runs_(runs.size()),
      num_blocks_(static_cast<std::int64_t>(distinct_blocks(runs).size())),
      confidence_(confidence) {
  if (model_.degrees_of_freedom() < 1) {
    refusal_ = std::to_string(num_runs_) + " runs in " + std::to_string(num_blocks_) + (num_blocks_ == 1 ? " block" : " blocks") +
               " leave none to tell noise from effects";
    return;
  }
  compare_arms(num_arms);
  if (refusal_.empty() && compared_arms_.empty())
    refusal_ = "no two arms ran in the same block, or arms stood in the same order in every block";
}

void BlockDesign::compare_arms(std::size_t num_arms) {
  std::vector<double> slope(num_arms + static_cast<std::size_t>(num_blocks_) + 1, 0.0);
  slope.back() = 1;
  if (!model_.is_estimable(slope)) {
    refusal_ = "arms stood in the same order in every block, so that a drift of the machine cannot be told from effects";
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
  critical_value_ = dunnett_critical_value(loadings_, static_cast<double>(model_.degrees_of_freedom()), confidence_);
}

double BlockDesign::critical_value_of(std::int64_t num_blocks) const {
  const double runs_a_block = static_cast<double>(num_runs_) / static_cast<double>(num_blocks_);
  const double more = static_cast<double>(num_blocks - num_blocks_) * (runs_a_block - 1);
  return dunnett_critical_value(loadings_, static_cast<double>(model_.degrees_of_freedom()) + more, confidence_);
}

BlockFit BlockDesign::fit(std::span<const double> samples) const {
  const Solution solution = model_.solve(samples);
  const auto freedom = static_cast<double>(model_.degrees_of_freedom());
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

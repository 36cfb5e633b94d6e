// The comparison of arms that ran in blocks: sample = arm + block + slope * position in the block + noise, by least squares over whatever
// runs there are, the variance of the noise pooled over the arms; intervals of all arms against the first simultaneously by Dunnett's
// method. A design is factored, and its critical value found, once; then it is fitted to any number of samples. Pure; safe from several
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orchestrator/stats/least_squares.h"

namespace rematch::stats {

// Where one run stood.
struct RunPlace {
  std::size_t arm = 0;     // 0: what the others are set against
  std::int64_t block = 0;  // any numbers
  double position = 0;     // in the block, in slots
};

struct ArmDifference {
  double difference = 0;  // of the arm and arm 0, in units of a sample
  double half_width = 0;  // of its simultaneous interval
};

struct BlockFit {
  double residual_sd = 0;
  double slope = 0;                 // a slot
  double slope_p_value = 1;         // of its t-test
  std::vector<ArmDifference> arms;  // one of compared_arms() each
};

class BlockDesign {
 public:
  // Every arm below num_arms need not have a run. 0 < confidence < 1: of all intervals together.
  BlockDesign(std::span<const RunPlace> runs, std::size_t num_arms, double confidence);

  // Why nothing can be fitted; empty when it can.
  const std::string& refusal() const { return refusal_; }
  // Arms from 1 on whose difference to arm 0 the runs determine.
  const std::vector<std::size_t>& compared_arms() const { return compared_arms_; }
  std::int64_t num_blocks() const { return num_blocks_; }
  std::int64_t degrees_of_freedom() const { return static_cast<std::int64_t>(blocks_.size() - model_.rank()) - num_blocks_; }
  double critical_value() const { return critical_value_; }
  double confidence() const { return confidence_; }
  // The critical value that so many blocks like these would have: it shrinks as that of arms that all have the mean correlation.
  double critical_value_of(std::int64_t num_blocks) const;

  // `samples`: one a run, in the order of `runs`. Only where refusal() is empty.
  BlockFit fit(std::span<const double> samples) const;

 private:
  void compare_arms(std::size_t num_arms);
  double alike_critical_value(double degrees_of_freedom) const;

  LeastSquares model_;               // of arms and position, all less the means of their blocks
  std::vector<std::size_t> blocks_;  // of each run, counted from 0
  std::int64_t num_blocks_ = 0;
  double confidence_ = 0;
  std::string refusal_;
  std::vector<std::size_t> compared_arms_;
  std::vector<std::vector<double>> contrasts_;  // of compared_arms_, then of the slope
  std::vector<double> standard_errors_;         // of contrasts_, in units of the noise
  std::vector<double> loadings_;
  double critical_value_ = 0;
};

}  // namespace rematch::stats

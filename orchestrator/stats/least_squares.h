// Ordinary least squares of a linear model whose design may be unbalanced and of less than full rank: a generalised inverse by Goodnight's
// sweep ("A Tutorial on the SWEEP Operator", 1979), which leaves out columns that those before them span. A design is factored once and
// fitted to any number of samples. Pure; safe from several threads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orchestrator/stats/matrix.h"

namespace rematch::stats {

struct Solution {
  std::vector<double> coefficients;  // one a column; 0 where a column was left out
  double residual_sum_of_squares = 0;
};

class LeastSquares {
 public:
  explicit LeastSquares(Matrix design);  // a row a sample, a column a coefficient

  std::size_t rank() const { return rank_; }
  std::size_t degrees_of_freedom() const { return design_.num_rows - rank_; }
  // Whether every solution of the normal equations gives contrast' * coefficients the same value.
  bool is_estimable(std::span<const double> contrast) const;
  // Of the estimates of two estimable contrasts, as a multiple of the variance of a sample.
  double covariance(std::span<const double> a, std::span<const double> b) const;
  // `samples`: one a row of the design.
  Solution solve(std::span<const double> samples) const;

 private:
  void sweep(std::size_t pivot);

  Matrix design_;
  Matrix inverse_;              // of X'X; the columns that were left out hold how the others make them up
  std::vector<bool> is_swept_;  // by column
  std::size_t rank_ = 0;
};

double dot(std::span<const double> a, std::span<const double> b);

}  // namespace rematch::stats

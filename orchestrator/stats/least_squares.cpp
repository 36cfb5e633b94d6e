#include "orchestrator/stats/least_squares.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace rematch::stats {

namespace {

// What is left of a column's sum of squares, as a share of it, below which the columns before it are taken to span it.
constexpr double kSmallestPivot = 1e-9;
constexpr double kZeroCoefficient = 1e-7;  // of contrasts and columns whose entries are about 1

Matrix normal_matrix(const Matrix& design) {
  Matrix normal(design.num_columns, design.num_columns);
  for (std::size_t row = 0; row < design.num_rows; ++row)
    for (std::size_t i = 0; i < design.num_columns; ++i) {
      if (design(row, i) == 0) continue;
      for (std::size_t j = 0; j < design.num_columns; ++j) normal(i, j) += design(row, i) * design(row, j);
    }
  return normal;
}

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

LeastSquares::LeastSquares(Matrix design)
    : design_(std::move(design)), inverse_(normal_matrix(design_)), is_swept_(design_.num_columns, false) {
  std::vector<double> smallest;
  for (std::size_t i = 0; i < design_.num_columns; ++i) smallest.push_back(kSmallestPivot * inverse_(i, i));
  for (std::size_t i = 0; i < design_.num_columns; ++i)
    if (inverse_(i, i) > smallest[i]) sweep(i);
}

// Where row and column are swept stands the inverse of their part of X'X; where the row alone is, how it makes up that column.
void LeastSquares::sweep(std::size_t pivot) {
  const double diagonal = inverse_(pivot, pivot);
  const std::size_t size = inverse_.num_columns;
  for (std::size_t j = 0; j < size; ++j) inverse_(pivot, j) /= diagonal;
  for (std::size_t i = 0; i < size; ++i) {
    const double factor = inverse_(i, pivot);
    if (i == pivot || factor == 0) continue;
    for (std::size_t j = 0; j < size; ++j)
      if (j != pivot) inverse_(i, j) -= factor * inverse_(pivot, j);
    inverse_(i, pivot) = -factor / diagonal;
  }
  inverse_(pivot, pivot) = 1 / diagonal;
  is_swept_[pivot] = true;
  ++rank_;
}

bool LeastSquares::is_estimable(std::span<const double> contrast) const {
  for (std::size_t j = 0; j < inverse_.num_columns; ++j) {
    if (is_swept_[j]) continue;
    double implied = 0;
    for (std::size_t i = 0; i < inverse_.num_rows; ++i)
      if (is_swept_[i]) implied += contrast[i] * inverse_(i, j);
    if (std::abs(implied - contrast[j]) > kZeroCoefficient) return false;
  }
  return true;
}

double LeastSquares::covariance(std::span<const double> a, std::span<const double> b) const {
  double sum = 0;
  for (std::size_t i = 0; i < inverse_.num_rows; ++i) {
    if (!is_swept_[i] || a[i] == 0) continue;
    for (std::size_t j = 0; j < inverse_.num_columns; ++j)
      if (is_swept_[j]) sum += a[i] * inverse_(i, j) * b[j];
  }
  return sum;
}

Solution LeastSquares::solve(std::span<const double> samples) const {
  std::vector<double> products(design_.num_columns, 0.0);
  for (std::size_t row = 0; row < design_.num_rows; ++row)
    for (std::size_t j = 0; j < design_.num_columns; ++j) products[j] += design_(row, j) * samples[row];
  Solution solution;
  solution.coefficients.assign(design_.num_columns, 0.0);
  for (std::size_t i = 0; i < inverse_.num_rows; ++i) {
    if (!is_swept_[i]) continue;
    for (std::size_t j = 0; j < inverse_.num_columns; ++j)
      if (is_swept_[j]) solution.coefficients[i] += inverse_(i, j) * products[j];
  }
  for (std::size_t row = 0; row < design_.num_rows; ++row) {
    const double residual = samples[row] - dot(design_.row(row), solution.coefficients);
    solution.residual_sum_of_squares += residual * residual;
  }
  return solution;
}

}  // namespace rematch::stats

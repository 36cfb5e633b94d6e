// A small dense matrix of doubles, row by row. Values only.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace rematch::stats {

struct Matrix {
  Matrix(std::size_t rows, std::size_t columns) : num_rows(rows), num_columns(columns), values(rows * columns, 0.0) {}

  double& operator()(std::size_t row, std::size_t column) { return values[row * num_columns + column]; }
  double operator()(std::size_t row, std::size_t column) const { return values[row * num_columns + column]; }
  std::span<const double> row(std::size_t index) const { return std::span(values).subspan(index * num_columns, num_columns); }

  std::size_t num_rows = 0;
  std::size_t num_columns = 0;
  std::vector<double> values;
};

}  // namespace rematch::stats

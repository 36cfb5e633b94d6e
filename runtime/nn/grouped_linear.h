// One linear layer per local expert over rows that are sorted by expert: a loop of products into slices of one result, no copy per expert.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace rematch::nn {

// x_RI sorted by expert, weights[e] [O, I], rows[e] >= 0 with sum R -> [R, O]. Saves x and the weights. An expert without rows gets no
// gradient.
at::Tensor grouped_linear(const at::Tensor& x_RI, const std::vector<at::Tensor>& weights, const std::vector<std::int64_t>& rows);

}  // namespace rematch::nn

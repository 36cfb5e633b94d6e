// Views between the two orders of attention: token-major as the linear layers have it, head-major as the products want it.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

inline at::Tensor heads_first(const at::Tensor& x_SBND) { return x_SBND.permute({1, 2, 0, 3}); }
inline at::Tensor tokens_first(const at::Tensor& x_BNSD) { return x_BNSD.permute({2, 0, 1, 3}); }

}  // namespace rematch::nn

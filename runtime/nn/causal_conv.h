// silu of a depthwise causal convolution over the tokens of each sequence, as the linear mixers have it before their scans.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace rematch::nn {

// One kernel a channel. Tokens are sequence-major, so the token before row t of the same sequence is row t - batch.
struct CausalConv {
  at::Tensor weight_CK;
  std::optional<at::Tensor> bias_C = {};
  std::int64_t batch = 1;
};

// The operation: x_TC -> [T, C]. Saves x and the weights; backward computes the value before silu again.
at::Tensor causal_conv_silu(const at::Tensor& x_TC, const CausalConv& conv);

// The same for the body of a larger kernel: no graph, in the maths' type.
at::Tensor causal_conv_silu_values(const at::Tensor& x_TC, const CausalConv& conv);
struct CausalConvGrads {
  at::Tensor x_TC;
  at::Tensor weight_CK;
  at::Tensor bias_C;  // undefined without a bias
};
CausalConvGrads causal_conv_silu_grads(const at::Tensor& dy_TC, const at::Tensor& x_TC, const CausalConv& conv);

}  // namespace rematch::nn

// Gradients add up in a parameter's main_grad, a view of a gradient buffer in the buffer's type, as under Megatron's
// DistributedDataParallel: what autograd delivers to a leaf is added there by a hook and let go at once. With gradient accumulation fusion
// a linear layer's product adds its weight's gradient itself, and autograd gets a dummy in its place. Main thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "runtime/nn/parameter.h"

namespace rematch::nn {

// Stands for gradients that are added already: one zero tensor a distinct weight shape and type, made at its first use and never freed, as
// Transformer Engine's cache. Zero, so that autograd may add it to what another use of the weight delivers.
class DummyGrads {
 public:
  // An alias of its own at each call: autograd takes it over without a copy.
  at::Tensor dummy_of(const at::Tensor& weight);
  bool is_dummy(const at::Tensor& grad) const;

 private:
  using Key = std::pair<std::vector<std::int64_t>, at::ScalarType>;
  std::map<Key, at::Tensor> dummies_;
};

// From now on the gradients of `parameter`, which has a tensor, go to `main_grad`. `dummies` switches fusion on and outlives the
// parameter; null: all gradients come through autograd.
void send_gradients(Parameter& parameter, const at::Tensor& main_grad, DummyGrads* dummies);

// What a linear layer's backward returns for its weight: dy^T x, or with fusion the dummy, after dy^T x went to main_grad.
at::Tensor weight_grad(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& w_OI);

}  // namespace rematch::nn

// A TensorParallel kept from an operation's forward to its backward.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

struct TensorParallelHolder final : torch::CustomClassHolder {
  explicit TensorParallelHolder(const TensorParallel& tensor_parallel_in) : tensor_parallel(tensor_parallel_in) {}
  TensorParallel tensor_parallel;
};

inline void save_tensor_parallel(torch::autograd::AutogradContext* ctx, const TensorParallel& tensor_parallel) {
  ctx->saved_data["tensor_parallel"] = c10::IValue::make_capsule(c10::make_intrusive<TensorParallelHolder>(tensor_parallel));
}

inline TensorParallel saved_tensor_parallel(torch::autograd::AutogradContext* ctx) {
  return c10::static_intrusive_pointer_cast<TensorParallelHolder>(ctx->saved_data["tensor_parallel"].toCapsule())->tensor_parallel;
}

}  // namespace rematch::nn

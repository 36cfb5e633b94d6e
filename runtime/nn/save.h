// save_for_backward with a name for every tensor, so that --saved-tensors can say what a layer holds.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include <initializer_list>

#include "runtime/base/saved_tensors.h"

namespace rematch::nn {

struct NamedTensor {
  const char* name;
  at::Tensor tensor;
};

// `operation`: "linear", "rms_norm", ...; call once in an operation's forward. Read back by get_saved_variables, in this order.
inline void save(torch::autograd::AutogradContext* ctx, const char* operation, std::initializer_list<NamedTensor> tensors) {
  torch::autograd::variable_list saved;
  for (const auto& [name, tensor] : tensors) {
    base::note_saved(operation, name, tensor);
    saved.push_back(tensor);
  }
  ctx->save_for_backward(std::move(saved));
}

}  // namespace rematch::nn

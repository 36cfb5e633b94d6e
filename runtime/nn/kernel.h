// The body of an operation that on a GPU would be one kernel: results are allocated before it, its temporaries are not charged to the
// modelled device, and on meta it does not run, since only shapes count there.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include "probes/device/charge.h"

namespace rematch::nn {

template <typename Body>
void kernel(const at::Tensor& result, const Body& body) {
  if (result.is_meta()) return;
  const probes::ScratchScope scratch;
  const at::NoGradGuard no_grad;
  body();
}

// The type that an operation computes in: fp32, but fp64 for fp64 inputs, so that a test can compare the maths without rounding.
inline at::ScalarType math_type(const at::Tensor& x) { return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

}  // namespace rematch::nn

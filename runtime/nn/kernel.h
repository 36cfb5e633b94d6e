// The body of an operation that on a GPU would be one kernel: results are allocated before it, its temporaries are not charged to the
// modelled device, and on meta it does not run, since only shapes count there. What it moves is counted on every device.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include <initializer_list>

#include "probes/device/charge.h"
#include "runtime/base/work_log.h"

namespace rematch::nn {

// What a kernel writes, first a tensor of the device that it runs on, and what it reads. What it changes in place stands twice, and so does
// the result of a lookup or permutation, which reads as many of its source's bytes as it writes. Undefined tensors count nothing.
using Moved = std::initializer_list<at::Tensor>;

inline std::int64_t moved_bytes(Moved tensors) {
  std::int64_t bytes = 0;
  for (const auto& tensor : tensors)
    if (tensor.defined()) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

// Of an operation of LibTorch that runs by itself.
inline void count_moved(Moved tensors) { base::count_kernel(moved_bytes(tensors)); }
// Of one that multiplies matrices, alone or among other things.
inline void count_products(std::int64_t flops, Moved tensors) { base::count_matmul(flops, moved_bytes(tensors)); }

// A body whose work is counted elsewhere.
template <typename Body>
void uncounted_kernel(const at::Tensor& result, const Body& body) {
  if (result.is_meta()) return;
  const probes::ScratchScope scratch;
  const at::NoGradGuard no_grad;
  body();
}

template <typename Body>
void kernel(Moved moved, const Body& body) {
  count_moved(moved);
  uncounted_kernel(*moved.begin(), body);
}

// The type that an operation computes in: fp32, but fp64 for fp64 inputs, so that a test can compare the maths without rounding.
inline at::ScalarType math_type(const at::Tensor& x) { return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat; }

}  // namespace rematch::nn

#include "runtime/nn/gemm.h"

#include <ATen/ATen.h>

#include "runtime/nn/kernel.h"

namespace rematch::nn {

void gemm_into(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b) {
  kernel(result, [&] {
    at::Tensor destination = result;
    if (a.is_cpu())
      destination.copy_(at::mm(a.to(math_type(a)), b.to(math_type(b))));
    else
      at::mm_out(destination, a, b);
  });
}

at::Tensor gemm(const at::Tensor& a, const at::Tensor& b) {
  auto result = at::empty({a.size(0), b.size(1)}, a.options());
  gemm_into(result, a, b);
  return result;
}

}  // namespace rematch::nn

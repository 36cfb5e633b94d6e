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

at::Tensor batched_gemm(const at::Tensor& a, const at::Tensor& b, double factor) {
  auto result = at::empty({a.size(0), a.size(1), a.size(2), b.size(3)}, a.options());
  kernel(result, [&] {
    auto products = result.flatten(0, 1);
    const auto left = a.flatten(0, 1), right = b.flatten(0, 1);
    if (a.is_cpu())
      products.copy_(at::bmm(left.to(math_type(a)), right.to(math_type(b))).mul_(factor));
    else
      at::baddbmm_out(products, products, left, right, /*beta=*/0, /*alpha=*/factor);
  });
  return result;
}

}  // namespace rematch::nn

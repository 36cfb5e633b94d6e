#include "runtime/nn/gemm.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "runtime/base/torch_compat.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

constexpr std::int64_t kProductElements = 4'194'304;  // 16 MiB in fp32

// LibTorch has no product of bf16 factors that adds to an fp32 tensor: the product is made a few rows at a time.
void add_fp32_product(at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  const auto rows = std::max<std::int64_t>(1, kProductElements / b.size(1));
  for (std::int64_t first = 0; first < a.size(0); first += rows) {
    const auto count = std::min(rows, a.size(0) - first);
    sum.narrow(0, first, count).add_(base::mm_to_fp32(a.narrow(0, first, count), b));
  }
}

}  // namespace

void gemm_into(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b) {
  count_products(2 * result.numel() * a.size(1), {result, a, b});
  uncounted_kernel(result, [&] {
    at::Tensor destination = result;
    if (a.is_cpu())
      destination.copy_(at::mm(a.to(math_type(a)), b.to(math_type(b))));
    else
      at::mm_out(destination, a, b);
  });
}

void gemm_add(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b) {
  count_products(2 * sum.numel() * a.size(1), {sum, sum, a, b});
  uncounted_kernel(sum, [&] {
    at::Tensor destination = sum;
    if (a.is_cpu())
      destination.copy_(destination.to(at::kFloat).addmm_(a.to(at::kFloat), b.to(at::kFloat)));
    else if (sum.scalar_type() == a.scalar_type())
      at::addmm_out(destination, destination, a, b);
    else
      add_fp32_product(destination, a, b);
  });
}

at::Tensor gemm(const at::Tensor& a, const at::Tensor& b) {
  auto result = at::empty({a.size(0), b.size(1)}, a.options());
  gemm_into(result, a, b);
  return result;
}

at::Tensor batched_gemm(const at::Tensor& a, const at::Tensor& b, double factor) {
  auto result = at::empty({a.size(0), a.size(1), a.size(2), b.size(3)}, a.options());
  count_products(2 * result.numel() * a.size(3), {result, a, b});
  uncounted_kernel(result, [&] {
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

// Every matrix product of the model. bf16 in, fp32 accumulation, one rounding.
// CPUs without bf16 instructions would fall to a reference kernel, so there both sides are raised to fp32 in uncharged scratch.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

// [m, k] x [k, n] -> [m, n] in the type of `a`. Views (transposes, row ranges) are fine.
at::Tensor gemm(const at::Tensor& a, const at::Tensor& b);
void gemm_into(const at::Tensor& result, const at::Tensor& a, const at::Tensor& b);
// sum += a b, added in fp32 and rounded once to the type of `sum` (bf16 or fp32). [m, n]
void gemm_add(const at::Tensor& sum, const at::Tensor& a, const at::Tensor& b);

// factor * [B, N, m, k] x [B, N, k, n] -> [B, N, m, n]: one product a head. Views (transposes of a head) are fine.
at::Tensor batched_gemm(const at::Tensor& a, const at::Tensor& b, double factor = 1);

}  // namespace rematch::nn

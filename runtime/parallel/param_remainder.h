// An fp32 number as a bf16 and the 16 bits that complete it, as Transformer Engine's Adam keeps main weights beside bf16 parameters. The
// bf16 is the fp32 rounded to nearest, ties away from zero; the remainder, taken as a signed number, is what the rounding added or dropped.
// For use inside nn::kernel, on cpu or cuda.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::parallel {

// param_N bf16, remainder_N int16 -> fp32, exactly what was split.
at::Tensor join_remainder(const at::Tensor& param_N, const at::Tensor& remainder_N);
// Writes both halves of main_N (fp32).
void split_remainder(const at::Tensor& main_N, const at::Tensor& param_N, const at::Tensor& remainder_N);

}  // namespace rematch::parallel

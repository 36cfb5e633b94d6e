// RMS norm over the first columns of a row. Saves its input and one fp32 reciprocal deviation a row.
#pragma once

#include <ATen/core/Tensor.h>

namespace rematch::nn {

enum class Gamma { kPlain, kZeroCentered };  // kZeroCentered: the norm scales by 1 + weight

// x_TD with D >= H, weight_H -> [T, H]: columns H and beyond are left out (multi-latent attention's rotary part rides along in x).
at::Tensor rms_norm(const at::Tensor& x_TD, const at::Tensor& weight_H, double epsilon, Gamma gamma = Gamma::kPlain);

}  // namespace rematch::nn

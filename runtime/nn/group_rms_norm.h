// RMS norms over groups of a row's columns. Each saves its inputs and one fp32 reciprocal deviation a row and group.
#pragma once

#include <ATen/core/Tensor.h>

#include "runtime/nn/rms_norm.h"

#include <cstdint>

namespace rematch::nn {

// Each of `num_groups` equal runs of columns is normed by itself; every column has a weight of its own. x_TD, weight_D -> [T, D]
at::Tensor group_rms_norm(const at::Tensor& x_TD, const at::Tensor& weight_D, std::int64_t num_groups, double epsilon);

// norm(o) * silu(z): heads of W columns are normed each by itself with the same weights. o_TD, z_TD, weight_W -> [T, D]
at::Tensor gated_rms_norm(const at::Tensor& o_TD, const at::Tensor& z_TD, const at::Tensor& weight_W, double epsilon, Gamma gamma);

}  // namespace rematch::nn

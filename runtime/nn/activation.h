// What stands between FC1 and FC2 of an MLP, with each row scaled by a routing probability where there is one. Saves its inputs only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace rematch::nn {

enum class Activation {
  kSwiglu,       // gated: h = [gate, up] -> silu(gate) * up
  kSquaredRelu,  // relu(h)^2
};

// Columns of h that `ffn_width` columns of activation need: FC1's output width.
std::int64_t fc1_width(Activation activation, std::int64_t ffn_width);
// Its runs: a tensor-parallel rank has its share of each.
std::vector<std::int64_t> fc1_sections(Activation activation, std::int64_t ffn_width);

// h [R, fc1_width] -> [R, F]
at::Tensor activate(const at::Tensor& h_RD, Activation activation);
// probs_R fp32
at::Tensor weighted_activate(const at::Tensor& h_RD, const at::Tensor& probs_R, Activation activation);

}  // namespace rematch::nn

// The only conditionals on LibTorch's version, here and in torch_compat.cpp. Supported: 2.6 and newer.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/version.h>

static_assert(TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 6),
              "rematch-train wants LibTorch 2.6 or newer");

namespace rematch::base {

// On cuda: the product of bf16 factors in fp32. Before 2.8 it is rounded to bf16 on the way.
at::Tensor mm_to_fp32(const at::Tensor& a, const at::Tensor& b);

}  // namespace rematch::base

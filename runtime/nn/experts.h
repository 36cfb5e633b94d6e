// The routed experts that this rank holds: grouped FC1, activation times probability, grouped FC2, over rows sorted by expert. Over the
// expert-tensor-parallel group each expert is in parts: FC1 by columns, FC2 by rows.
// Region `moe_act` (between FC1 and FC2) where the experts are grouped; Megatron's sequential experts (moe_grouped_gemm: false) have none.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/nn/activation.h"
#include "runtime/nn/module_context.h"

namespace rematch::nn {

struct ExpertsShape {
  std::int64_t hidden_size = 0;
  std::int64_t ffn_hidden_size = 0;  // of one whole expert; a multiple of the expert-tensor-parallel size
  std::int64_t first_expert = 0;     // global index
  std::int64_t num_local_experts = 0;
  Activation activation = Activation::kSwiglu;
  bool grouped_gemm = true;
};

class RoutedExperts {
 public:
  RoutedExperts(const std::string& name, const ExpertsShape& shape, const ModuleContext& context);
  // x_RH sorted by local expert, probs_R fp32, rows[e] of each local expert -> [R, H], a partial sum where experts are in parts
  at::Tensor forward(const at::Tensor& x_RH, const at::Tensor& probs_R, const std::vector<std::int64_t>& rows) const;

 private:
  Activation activation_;
  std::vector<Parameter*> fc1_;
  std::vector<Parameter*> fc2_;
  std::optional<recompute::Region> activation_region_;
};

}  // namespace rematch::nn

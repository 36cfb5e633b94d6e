// The gated MLP as a dense layer has it (its norm fused in: region `mlp` covers both) and as shared experts have it (no norm of its own).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "runtime/nn/parameter.h"
#include "runtime/recompute/policy.h"

namespace rematch::nn {

class GatedMlp {
 public:
  GatedMlp(const std::string& name, std::int64_t hidden_size, std::int64_t ffn_hidden_size, ParameterStore& store);
  at::Tensor forward(const at::Tensor& x_TH) const;

 private:
  Parameter* fc1_;
  Parameter* fc2_;
};

class DenseMlp {
 public:
  DenseMlp(const std::string& name, std::int64_t hidden_size, std::int64_t ffn_hidden_size, double layernorm_epsilon, ParameterStore& store,
           recompute::Policy& policy);
  // x_TH: the residual stream, not normed
  at::Tensor forward(const at::Tensor& x_TH) const;

 private:
  Parameter* norm_;
  GatedMlp mlp_;
  double layernorm_epsilon_;
  recompute::Region region_;
};

}  // namespace rematch::nn

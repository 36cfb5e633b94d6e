// The MLP as a dense layer has it (its norm fused in: region `mlp` covers both) and as shared experts have it (no norm of its own).
// Tensor parallelism: each rank has its share of the ffn columns. Shapes are the whole layer's.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "runtime/nn/activation.h"
#include "runtime/nn/module_context.h"
#include "runtime/nn/rms_norm.h"
#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// What FC1 keeps where rows are sharded: this rank's, and gathers the others again in backward, or all of them, gathered once.
enum class Fc1Input { kOwnRows, kAllRows };

struct MlpShape {
  std::int64_t hidden_size = 0;
  std::int64_t ffn_hidden_size = 0;
  Activation activation = Activation::kSwiglu;
  Fc1Input fc1_input = Fc1Input::kOwnRows;
};

class Mlp {
 public:
  // Throws base::BadTrial where the columns do not divide.
  Mlp(const std::string& name, const MlpShape& shape, const ModuleContext& context);
  // x_TH: this rank's rows -> the same rows
  at::Tensor forward(const at::Tensor& x_TH) const;

 private:
  at::Tensor fc1(const at::Tensor& x_TH) const;

  TensorParallel tensor_parallel_;
  Activation activation_;
  Fc1Input fc1_input_;
  Parameter* fc1_;
  Parameter* fc2_;
};

struct DenseMlpShape {
  MlpShape mlp;
  double layernorm_epsilon = 1e-5;
  Gamma gamma = Gamma::kPlain;
};

class DenseMlp {
 public:
  DenseMlp(const std::string& name, const DenseMlpShape& shape, const ModuleContext& context);
  // x_TH: the residual stream, not normed
  at::Tensor forward(const at::Tensor& x_TH) const;

 private:
  DenseMlpShape shape_;
  Parameter* norm_;
  Mlp mlp_;
  recompute::Region region_;
};

}  // namespace rematch::nn

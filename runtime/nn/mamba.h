// The Mamba2 mixer: input norm fused into the input projection, causal convolution, selective scan, gate, group norm, output projection.
// No recompute label names a part of it. Tensor parallelism: each rank has its share of the groups, with their heads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "runtime/nn/module_context.h"
#include "runtime/nn/sequence.h"
#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// Megatron's names; sizes in elements.
struct Mamba2Shape {
  std::int64_t hidden_size = 0;
  std::int64_t mamba_num_heads = 0;
  std::int64_t mamba_head_dim = 0;
  std::int64_t mamba_state_dim = 0;
  std::int64_t mamba_num_groups = 0;  // of heads that share B and C, and of the norm after the gate; divides mamba_num_heads
  std::int64_t d_conv = 4;
  std::int64_t chunk_size = 128;
  double layernorm_epsilon = 1e-5;

  std::int64_t inner_size() const { return mamba_num_heads * mamba_head_dim; }
  std::int64_t group_states() const { return mamba_num_groups * mamba_state_dim; }
  std::int64_t conv_size() const { return inner_size() + 2 * group_states(); }                   // x, B, C
  std::int64_t projection_size() const { return inner_size() + conv_size() + mamba_num_heads; }  // z, x, B, C, dt
};

class Mamba2Mixer {
 public:
  // `shape` is the whole layer's. Throws base::BadTrial where heads or groups do not divide.
  Mamba2Mixer(const std::string& name, const Mamba2Shape& shape, const ModuleContext& context);
  // x_TH: this rank's rows of the residual stream, not normed -> the same rows [T, H], the residual not added. `sequence`: all rows.
  at::Tensor forward(const at::Tensor& x_TH, SequenceShape sequence) const;

 private:
  TensorParallel tensor_parallel_;
  Mamba2Shape shape_;  // of this rank's groups
  Parameter* input_norm_;
  Parameter* in_proj_;
  Parameter* conv_weight_;
  Parameter* conv_bias_;
  Parameter* dt_bias_;
  Parameter* a_log_;
  Parameter* skip_;
  Parameter* norm_;
  Parameter* out_proj_;
};

}  // namespace rematch::nn

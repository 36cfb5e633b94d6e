// The gated delta net of Qwen3-Next: input norm fused into the input projection, causal convolution, gated delta rule, gated norm, output
// projection. Region: `gdn_norm_out` (the gated norm's output). Tensor parallelism: each rank has its share of the key and value heads.
// Under context parallelism everything between the two projections runs on whole sequences and on a share of those (context_heads.h);
// the way back to this rank's tokens is part of the region, so the kept output has all heads of its tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "runtime/nn/context_heads.h"
#include "runtime/nn/module_context.h"
#include "runtime/nn/rms_norm.h"
#include "runtime/nn/sequence.h"
#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// Megatron's names; sizes in elements.
struct GatedDeltaNetShape {
  std::int64_t hidden_size = 0;
  std::int64_t linear_num_key_heads = 0;  // of q and of k; divides linear_num_value_heads
  std::int64_t linear_key_head_dim = 0;
  std::int64_t linear_num_value_heads = 0;
  std::int64_t linear_value_head_dim = 0;
  std::int64_t linear_conv_kernel_dim = 4;
  Gamma gamma = Gamma::kPlain;  // of the input norm and of the heads' norm
  double layernorm_epsilon = 1e-6;

  std::int64_t key_size() const { return linear_num_key_heads * linear_key_head_dim; }
  std::int64_t value_size() const { return linear_num_value_heads * linear_value_head_dim; }
  std::int64_t conv_size() const { return 2 * key_size() + value_size(); }                                  // q, k, v
  std::int64_t projection_size() const { return conv_size() + value_size() + 2 * linear_num_value_heads; }  // q, k, v, z, beta, alpha
};

class GatedDeltaNet {
 public:
  // `shape` is the whole layer's. Throws base::BadTrial where the heads do not divide.
  GatedDeltaNet(const std::string& name, const GatedDeltaNetShape& shape, const ModuleContext& context);
  // x_TH: this rank's rows of the residual stream, not normed -> the same rows [T, H], the residual not added. `sequence`: all rows.
  at::Tensor forward(const at::Tensor& x_TH, SequenceShape sequence) const;

 private:
  struct Mixed {
    at::Tensor o_TD;
    at::Tensor z_TD;  // the gate, a view of what the input projection put out
  };
  Mixed mix(const at::Tensor& x_TH, SequenceShape sequence) const;

  TensorParallel tensor_parallel_;
  GatedDeltaNetShape shape_;  // of this tensor-parallel rank's heads
  ContextHeads context_heads_;
  GatedDeltaNetShape share_;  // with the heads that this rank has of whole sequences
  Parameter* input_norm_;
  Parameter* in_proj_;
  Parameter* conv_;
  Parameter* dt_bias_;
  Parameter* a_log_;
  Parameter* out_norm_;
  Parameter* out_proj_;
  recompute::Region norm_out_region_;
};

}  // namespace rematch::nn

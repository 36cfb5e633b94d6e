// Multi-latent attention: down projection to a latent, up projection to q, k and v with unfused rotary embedding, attention, output
// projection. Regions: `mla_up_proj` (everything from the latents to q, k, v) and `core_attn` (the attention itself).
// Tensor parallelism: each rank has its share of the heads and makes the latents of its own rows; the up projections gather them. With
// sequence parallelism the rotary key of all rows is gathered before `mla_up_proj`, which keeps it when active, as Megatron Core's does.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/nn/core_attention.h"
#include "runtime/nn/module_context.h"
#include "runtime/nn/sequence.h"
#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

// Megatron's names; sizes in elements.
struct MlaShape {
  std::int64_t hidden_size = 0;
  std::int64_t num_attention_heads = 0;
  std::optional<std::int64_t> q_lora_rank;
  std::int64_t kv_lora_rank = 0;
  std::int64_t qk_head_dim = 0;          // per head, the part without position
  std::int64_t qk_pos_emb_head_dim = 0;  // per head, the rotary part; even
  std::int64_t v_head_dim = 0;
  bool qk_layernorm = true;  // norms of the latents, fused into the up projections
  double layernorm_epsilon = 1e-5;
  double rotary_base = 10000;
  AttentionBackend attention_backend = AttentionBackend::kFused;
  double attention_dropout = 0;
};

class MultiLatentAttention {
 public:
  // `shape` is the whole layer's. Throws base::BadTrial where the heads do not divide.
  MultiLatentAttention(const std::string& name, const MlaShape& shape, const ModuleContext& context);
  // x_TH: this rank's rows of the input norm's output -> the same rows [T, H]. `sequence`: all rows.
  at::Tensor forward(const at::Tensor& x_TH, SequenceShape sequence) const;

 private:
  recompute::Tensors up_project(const recompute::Tensors& latents, SequenceShape sequence) const;

  recompute::Tensors latents(const at::Tensor& x_TH) const;

  TensorParallel tensor_parallel_;
  MlaShape shape_;  // of this rank's heads
  CoreAttention core_attention_;
  Parameter* q_down_ = nullptr;  // only with q_lora_rank
  Parameter* q_norm_ = nullptr;
  Parameter* q_up_;
  Parameter* kv_down_;
  Parameter* kv_norm_ = nullptr;
  Parameter* kv_up_;
  Parameter* projection_;
  recompute::Region up_proj_region_;
  recompute::Region core_attn_region_;
};

}  // namespace rematch::nn

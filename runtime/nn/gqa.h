// Grouped-query attention with the input norm fused into the query-key-value projection (so no region `layernorm` here), optional norms of
// q and k per head, rotary embedding of part of a head or none, and an optional output gate. Region: `core_attn`.
//
// Kept for backward per layer, bytes (T = S * B tokens, h hidden, N heads, G groups, E head size), attention `fused` without dropout:
//   norm input 2Th, its reciprocal deviation 4T, its output 2Th, q 2TNE, k and v 2TGE each, o 2TNE, log-sum-exp 4TN
//   with qk norm: q and k before it 2TNE + 2TGE, reciprocal deviations per head 4TN + 4TG
//   with output gate: the gate 2TNE and the gated product 2TNE
// The mixed projection output is let go. `unfused`: unfused_attention.h says what stands for q, k, v and log-sum-exp.
// Tensor parallelism: each rank has N / size heads and G / size groups; with sequence parallelism norm input and output are of its own
// rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "runtime/nn/core_attention.h"
#include "runtime/nn/module_context.h"
#include "runtime/nn/rms_norm.h"
#include "runtime/nn/sequence.h"
#include "runtime/nn/tensor_parallel.h"

namespace rematch::nn {

enum class PositionEmbedding { kRope, kNone };

// Megatron's names; sizes in elements.
struct GqaShape {
  std::int64_t hidden_size = 0;
  std::int64_t num_attention_heads = 0;
  std::int64_t num_query_groups = 0;  // divides num_attention_heads
  std::int64_t kv_channels = 0;       // size of a head
  PositionEmbedding position_embedding_type = PositionEmbedding::kRope;
  double rotary_percent = 1;  // of a head, its first channels; an even number of them
  double rotary_base = 10000;
  bool qk_layernorm = false;
  bool attention_output_gate = false;
  double layernorm_epsilon = 1e-5;
  Gamma gamma = Gamma::kPlain;  // of all three norms
  AttentionBackend attention_backend = AttentionBackend::kFused;
  double attention_dropout = 0;

  std::int64_t rotary_channels() const;  // 0 without position embedding
};

class GroupedQueryAttention {
 public:
  // `shape` is the whole layer's. Throws base::BadTrial for one that cannot be.
  GroupedQueryAttention(const std::string& name, const GqaShape& shape, const ModuleContext& context);
  // x_TH: this rank's rows of the residual stream, not normed -> the same rows [T, H], without the residual. `sequence`: all rows.
  at::Tensor forward(const at::Tensor& x_TH, SequenceShape sequence) const;

 private:
  struct Projected {
    at::Tensor q_BNSE, k_BGSE, v_BGSE;
    at::Tensor gate_TD;  // undefined without attention_output_gate
  };
  Projected project(const at::Tensor& x_TH, SequenceShape sequence) const;

  TensorParallel tensor_parallel_;
  GqaShape shape_;  // of this rank's heads
  CoreAttention core_attention_;
  Parameter* norm_;
  Parameter* qkv_;
  Parameter* q_norm_ = nullptr;  // only with qk_layernorm
  Parameter* k_norm_ = nullptr;
  Parameter* projection_;
  recompute::Region core_attn_region_;
};

}  // namespace rematch::nn

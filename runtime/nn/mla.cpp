#include "runtime/nn/mla.h"

#include <ATen/ATen.h>

#include <cmath>

#include "runtime/base/scope.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/mla_expand.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::nn {

MultiLatentAttention::MultiLatentAttention(const std::string& name, const MlaShape& shape, const ModuleContext& context)
    : shape_(shape),
      core_attention_{.backend = shape.attention_backend,
                      .scale = 1.0 / std::sqrt(static_cast<double>(shape.qk_head_dim + shape.qk_pos_emb_head_dim)),
                      .attention_dropout = shape.attention_dropout,
                      .streams = &context.policy.random(),
                      .context = context_group(context.mesh)},
      up_proj_region_(context.policy.region("mla_up_proj")),
      core_attn_region_(context.policy.region("core_attn")) {
  const auto weight = [&](const char* unit, std::int64_t outputs, std::int64_t inputs) {
    return context.store.declare({.name = name + "." + unit + ".weight", .shape = {outputs, inputs}});
  };
  const auto norm = [&](const char* unit, std::int64_t width) {
    return context.store.declare({.name = name + "." + unit + ".weight", .shape = {width}, .init = Init::kOnes});
  };
  const auto heads = shape.num_attention_heads;
  const auto query_width = heads * (shape.qk_head_dim + shape.qk_pos_emb_head_dim);
  if (shape.q_lora_rank) {
    q_down_ = weight("linear_q_down_proj", *shape.q_lora_rank, shape.hidden_size);
    if (shape.qk_layernorm) q_norm_ = norm("q_layernorm", *shape.q_lora_rank);
  }
  q_up_ = weight("linear_q_up_proj", query_width, shape.q_lora_rank.value_or(shape.hidden_size));
  kv_down_ = weight("linear_kv_down_proj", shape.kv_lora_rank + shape.qk_pos_emb_head_dim, shape.hidden_size);
  if (shape.qk_layernorm) kv_norm_ = norm("kv_layernorm", shape.kv_lora_rank);
  kv_up_ = weight("linear_kv_up_proj", heads * (shape.qk_head_dim + shape.v_head_dim), shape.kv_lora_rank);
  projection_ = weight("linear_proj", shape.hidden_size, heads * shape.v_head_dim);
}

recompute::Tensors MultiLatentAttention::up_project(const recompute::Tensors& latents, SequenceShape sequence) const {
  const auto &query_latent = latents[0], &kv_latent = latents[1];
  const auto q_TD = linear_layer(q_norm_ ? rms_norm(query_latent, q_norm_->tensor, shape_.layernorm_epsilon) : query_latent, q_up_->tensor);
  const auto kv_TD = linear_layer(
      kv_norm_ ? rms_norm(kv_latent, kv_norm_->tensor, shape_.layernorm_epsilon) : kv_latent.narrow(1, 0, shape_.kv_lora_rank).contiguous(),
      kv_up_->tensor);
  auto qkv = mla_expand(q_TD, kv_TD, kv_latent, shape_, sequence);
  return {qkv.q_BNSE, qkv.k_BNSE, qkv.v_BNSV};
}

at::Tensor MultiLatentAttention::forward(const at::Tensor& x_TH, SequenceShape sequence) const {
  const base::ModuleScope scope("self_attention");
  const auto query_latent = q_down_ ? linear_layer(x_TH, q_down_->tensor) : x_TH;
  auto qkv = up_proj_region_.run([this, sequence](const recompute::Tensors& latents) { return up_project(latents, sequence); },
                                 {query_latent, linear_layer(x_TH, kv_down_->tensor)});
  const auto attention = [this](const recompute::Tensors& in) {
    return recompute::Tensors{core_attention(in[0], in[1], in[2], core_attention_)};
  };
  const auto o_TD = core_attn_region_.run(attention, qkv.tensors).tensors[0];
  qkv.discard_after(o_TD);
  return linear_layer(o_TD, projection_->tensor);
}

}  // namespace rematch::nn

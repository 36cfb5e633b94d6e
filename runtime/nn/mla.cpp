#include "runtime/nn/mla.h"

#include <ATen/ATen.h>

#include <cmath>
#include <utility>

#include "runtime/base/scope.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/mla_expand.h"
#include "runtime/nn/norm_weight.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::nn {

namespace {

MlaShape own_heads(MlaShape shape, const TensorParallel& tensor_parallel) {
  shape.num_attention_heads = tensor_parallel.share(shape.num_attention_heads, "model.num_attention_heads");
  return shape;
}

}  // namespace

MultiLatentAttention::MultiLatentAttention(const std::string& name, const MlaShape& shape, const ModuleContext& context)
    : tensor_parallel_(context.mesh),
      shape_(own_heads(shape, tensor_parallel_)),
      core_attention_{.backend = shape.attention_backend,
                      .scale = 1.0 / std::sqrt(static_cast<double>(shape.qk_head_dim + shape.qk_pos_emb_head_dim)),
                      .attention_dropout = shape.attention_dropout,
                      .streams = attention_streams(context, tensor_parallel_),
                      .context = context_group(context.mesh)},
      up_proj_region_(context.policy.region("mla_up_proj")),
      core_attn_region_(context.policy.region("core_attn")) {
  const auto weight = [&](const char* unit, std::int64_t outputs, std::int64_t inputs) {
    return ParameterDeclaration{.name = name + "." + unit + ".weight", .shape = {outputs, inputs}};
  };
  // The latents are of this rank's rows, whatever its heads.
  const auto down = [&](const char* unit, std::int64_t outputs) {
    auto declaration = weight(unit, outputs, shape.hidden_size);
    declaration.tensor_grad = tensor_parallel_.grad_of_rows();
    return context.store.declare(std::move(declaration));
  };
  const auto up = [&](const char* unit, std::int64_t outputs, std::int64_t inputs) {
    return context.store.declare(tensor_parallel_.cut_outputs(weight(unit, outputs, inputs)));
  };
  const auto norm = [&](const char* unit, std::int64_t width) {
    return declare_norm_weight(context.store, {name + "." + unit + ".weight", width, Gamma::kPlain, tensor_parallel_.grad_of_rows()});
  };
  const auto heads = shape.num_attention_heads;
  const auto query_width = heads * (shape.qk_head_dim + shape.qk_pos_emb_head_dim);
  if (shape.q_lora_rank) {
    q_down_ = down("linear_q_down_proj", *shape.q_lora_rank);
    if (shape.qk_layernorm) q_norm_ = norm("q_layernorm", *shape.q_lora_rank);
  }
  q_up_ = up("linear_q_up_proj", query_width, shape.q_lora_rank.value_or(shape.hidden_size));
  kv_down_ = down("linear_kv_down_proj", shape.kv_lora_rank + shape.qk_pos_emb_head_dim);
  if (shape.qk_layernorm) kv_norm_ = norm("kv_layernorm", shape.kv_lora_rank);
  kv_up_ = up("linear_kv_up_proj", heads * (shape.qk_head_dim + shape.v_head_dim), shape.kv_lora_rank);
  projection_ = context.store.declare(tensor_parallel_.cut_inputs(weight("linear_proj", shape.hidden_size, heads * shape.v_head_dim)));
}

// Query latent, key-value latent, and over several ranks the rotary key, which lies in the key-value latent otherwise.
recompute::Tensors MultiLatentAttention::latents(const at::Tensor& x_TH) const {
  const auto query_latent = q_down_ ? linear_layer(x_TH, q_down_->tensor) : x_TH;
  const auto kv_latent = linear_layer(x_TH, kv_down_->tensor);
  if (tensor_parallel_.is_alone()) return {query_latent, kv_latent};
  const auto key = kv_latent.narrow(1, shape_.kv_lora_rank, shape_.qk_pos_emb_head_dim);
  return {query_latent, kv_latent, for_own_heads(key, tensor_parallel_)};
}

recompute::Tensors MultiLatentAttention::up_project(const recompute::Tensors& latents, SequenceShape sequence) const {
  const auto &query_latent = latents[0], &kv_latent = latents[1];
  const auto up = [this](const at::Tensor& latent, const Parameter* weight) {
    return column_parallel_linear(latent, weight->tensor, tensor_parallel_);
  };
  const auto q_TD = up(q_norm_ ? rms_norm(query_latent, q_norm_->tensor, shape_.layernorm_epsilon) : query_latent, q_up_);
  const auto kv_TD = up(
      kv_norm_ ? rms_norm(kv_latent, kv_norm_->tensor, shape_.layernorm_epsilon) : kv_latent.narrow(1, 0, shape_.kv_lora_rank).contiguous(),
      kv_up_);
  auto qkv = mla_expand(q_TD, kv_TD, latents.back(), shape_, sequence);
  return {qkv.q_BNSE, qkv.k_BNSE, qkv.v_BNSV};
}

at::Tensor MultiLatentAttention::forward(const at::Tensor& x_TH, SequenceShape sequence) const {
  const base::ModuleScope scope("self_attention");
  auto qkv = up_proj_region_.run([this, sequence](const recompute::Tensors& in) { return up_project(in, sequence); }, latents(x_TH));
  const auto attention = [this](const recompute::Tensors& in) {
    return recompute::Tensors{core_attention(in[0], in[1], in[2], core_attention_)};
  };
  const auto o_TD = core_attn_region_.run(attention, qkv.tensors).tensors[0];
  qkv.discard_after(o_TD);
  return row_parallel_linear(o_TD, projection_->tensor, tensor_parallel_);
}

}  // namespace rematch::nn

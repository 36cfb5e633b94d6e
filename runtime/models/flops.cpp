#include "runtime/models/flops.h"

namespace rematch::models {

namespace {

double matrices_of(nn::Activation activation) { return activation == nn::Activation::kSwiglu ? 3 : 2; }

}  // namespace

Work gqa_work(const nn::GqaShape& shape) {
  const auto h = static_cast<double>(shape.hidden_size);
  const auto query = static_cast<double>(shape.num_attention_heads * shape.kv_channels);
  const auto key_value = static_cast<double>(shape.num_query_groups * shape.kv_channels);
  const double gate = shape.attention_output_gate ? query : 0;
  return {.per_token = h * (query + 2 * key_value + gate) + query * h, .per_squared_length = query};
}

Work mla_work(const nn::MlaShape& shape) {
  const auto h = static_cast<double>(shape.hidden_size), n = static_cast<double>(shape.num_attention_heads);
  const auto dn = static_cast<double>(shape.qk_head_dim), dr = static_cast<double>(shape.qk_pos_emb_head_dim);
  const auto dv = static_cast<double>(shape.v_head_dim), kvr = static_cast<double>(shape.kv_lora_rank);
  const auto qr = static_cast<double>(shape.q_lora_rank.value_or(0));
  const double query = shape.q_lora_rank ? qr * (h + n * (dn + dr) + 1) : h * n * (dn + dr);
  return {.per_token = query + kvr * (h + n * (dn + dv) + 1) + h * dr + n * dv * h, .per_squared_length = n * (dn + dr + dv) / 2};
}

Work mlp_work(std::int64_t hidden_size, std::int64_t ffn_hidden_size, nn::Activation activation) {
  return {.per_token = static_cast<double>(hidden_size) * static_cast<double>(ffn_hidden_size) * matrices_of(activation)};
}

Work moe_work(const nn::MoeShape& shape) {
  return mlp_work(shape.hidden_size, shape.ffn_hidden_size * shape.router.topk + shape.shared_ffn_hidden_size, shape.activation);
}

Work logits_work(const StackShape& shape) {
  return {.per_token = static_cast<double>(shape.norm.hidden_size) * static_cast<double>(shape.padded_vocab_size)};
}

double step_flops(const Work& work, const protocol::TrainingSpec& training) {
  const auto length = static_cast<double>(training.seq_length);
  const double tokens = static_cast<double>(training.global_batch_size) * length;
  return 6 * (tokens * work.per_token + tokens * length * work.per_squared_length);
}

}  // namespace rematch::models

#include "runtime/models/mla_moe_config.h"

#include "runtime/base/errors.h"
#include "runtime/models/field_reader.h"

namespace rematch::models {

namespace {

using protocol::FieldDescription;

FieldDescription integer_field(const char* name, double minimum, const char* meaning) {
  return {.name = name, .type = "integer", .minimum = minimum, .meaning = meaning};
}

std::vector<FieldDescription> fields_of_family() {
  return {
      integer_field("num_layers", 1, "transformer layers"),
      integer_field("hidden_size", 1, "width of the residual stream, elements"),
      integer_field("num_attention_heads", 1, "attention heads"),
      {.name = "q_lora_rank",
       .type = "integer",
       .nullable = true,
       .minimum = 1,
       .meaning = "width of the query latent, elements; null: none"},
      integer_field("kv_lora_rank", 1, "width of the key-value latent, elements"),
      integer_field("qk_head_dim", 1, "query and key size per head without position, elements"),
      integer_field("qk_pos_emb_head_dim", 2, "rotary query and key size per head, elements; even"),
      integer_field("v_head_dim", 1, "value size per head, elements"),
      {.name = "qk_layernorm", .type = "boolean", .meaning = "norms of the latents, fused into the up projections"},
      integer_field("ffn_hidden_size", 1, "width of a dense MLP, elements"),
      {.name = "moe_layer_freq", .type = "integers", .meaning = "one entry a layer: 0 dense, 1 MoE; a longer list is cut to num_layers"},
      integer_field("num_moe_experts", 1, "routed experts of a layer, over all ranks"),
      integer_field("moe_router_topk", 1, "experts a token"),
      integer_field("moe_ffn_hidden_size", 1, "width of one expert, elements"),
      integer_field("moe_shared_expert_intermediate_size", 0, "total width of the shared experts, elements; 0: none"),
      {.name = "moe_grouped_gemm", .type = "boolean", .meaning = "grouped experts; this trainer has no other kind"},
      {.name = "moe_router_score_function", .type = "string", .allowed = {"sigmoid", "softmax"}, .meaning = "router scores"},
      {.name = "moe_router_topk_scaling_factor", .type = "number", .minimum = 0, .meaning = "factor on the chosen probabilities"},
      integer_field("padded_vocab_size", 2, "rows of embedding and head"),
      {.name = "layernorm_epsilon", .type = "number", .minimum = 0, .meaning = "epsilon of RMSNorm"},
      {.name = "rotary_base", .type = "number", .minimum = 1, .meaning = "base of the rotary frequencies"},
      {.name = "init_method_std", .type = "number", .minimum = 0, .meaning = "standard deviation of the initial weights"},
  };
}

std::vector<bool> layer_kinds(const FieldReader& field) {
  const auto& pattern = field.integers("moe_layer_freq");
  const auto num_layers = static_cast<std::size_t>(field.integer("num_layers"));
  if (pattern.size() < num_layers)
    throw base::BadTrial("model.moe_layer_freq: wanted one entry a layer (" + std::to_string(num_layers) + "), found " +
                         std::to_string(pattern.size()));
  std::vector<bool> kinds;
  for (std::size_t i = 0; i < num_layers; ++i) {
    if (pattern[i] != 0 && pattern[i] != 1)
      throw base::BadTrial("model.moe_layer_freq: wanted 0 (dense) or 1 (MoE), found " + std::to_string(pattern[i]));
    kinds.push_back(pattern[i] == 1);
  }
  return kinds;
}

void check_config(const FieldReader& field) {
  if (field.integer("moe_router_topk") > field.integer("num_moe_experts"))
    throw base::BadTrial("model.moe_router_topk: wanted at most num_moe_experts (" + std::to_string(field.integer("num_moe_experts")) +
                         "), found " + std::to_string(field.integer("moe_router_topk")));
  if (field.integer("qk_pos_emb_head_dim") % 2 != 0)
    throw base::BadTrial("model.qk_pos_emb_head_dim: wanted an even number, found " + std::to_string(field.integer("qk_pos_emb_head_dim")));
  if (!field.boolean("moe_grouped_gemm")) throw base::BadTrial("model.moe_grouped_gemm: this trainer has grouped experts only");
}

nn::MlaShape attention_shape(const FieldReader& field) {
  return {.hidden_size = field.integer("hidden_size"),
          .num_attention_heads = field.integer("num_attention_heads"),
          .q_lora_rank = field.optional_integer("q_lora_rank"),
          .kv_lora_rank = field.integer("kv_lora_rank"),
          .qk_head_dim = field.integer("qk_head_dim"),
          .qk_pos_emb_head_dim = field.integer("qk_pos_emb_head_dim"),
          .v_head_dim = field.integer("v_head_dim"),
          .qk_layernorm = field.boolean("qk_layernorm"),
          .layernorm_epsilon = field.number("layernorm_epsilon"),
          .rotary_base = field.number("rotary_base")};
}

nn::MoeShape moe_shape(const FieldReader& field) {
  const bool sigmoid = field.string("moe_router_score_function") == "sigmoid";
  return {.hidden_size = field.integer("hidden_size"),
          .ffn_hidden_size = field.integer("moe_ffn_hidden_size"),
          .shared_ffn_hidden_size = field.integer("moe_shared_expert_intermediate_size"),
          .router = {.num_experts = field.integer("num_moe_experts"),
                     .topk = field.integer("moe_router_topk"),
                     .score_function = sigmoid ? nn::ScoreFunction::kSigmoid : nn::ScoreFunction::kSoftmax,
                     .scaling_factor = field.number("moe_router_topk_scaling_factor")}};
}

// Multiply-adds a token in one MLA layer's projections, and the factor of the squared sequence length in its attention.
double mla_projection_terms(const nn::MlaShape& mla) {
  const auto h = static_cast<double>(mla.hidden_size), n = static_cast<double>(mla.num_attention_heads);
  const auto dn = static_cast<double>(mla.qk_head_dim), dr = static_cast<double>(mla.qk_pos_emb_head_dim);
  const auto dv = static_cast<double>(mla.v_head_dim), kvr = static_cast<double>(mla.kv_lora_rank);
  const auto qr = static_cast<double>(mla.q_lora_rank.value_or(0));
  const double query = mla.q_lora_rank ? qr * (h + n * (dn + dr) + 1) : h * n * (dn + dr);
  return query + kvr * (h + n * (dn + dv) + 1) + h * dr + n * dv * h;
}

double mla_core_terms(const nn::MlaShape& mla) {
  return static_cast<double>(mla.num_attention_heads * (mla.qk_head_dim + mla.qk_pos_emb_head_dim + mla.v_head_dim)) / 2;
}

}  // namespace

protocol::FamilyDescription mla_moe_description() {
  const auto everywhere = std::map<std::string, std::int64_t>{{"dense", 1}, {"moe", 1}};
  return {.name = "mla_moe",
          .fields = fields_of_family(),
          .layer_kind_field = "moe_layer_freq",
          .layer_kinds = {"dense", "moe"},
          .labels = {{.label = "core_attn", .per_layer = everywhere, .no_site_reason = "the model has no layer"},
                     {.label = "mla_up_proj", .per_layer = everywhere, .no_site_reason = "the model has no layer"},
                     {.label = "layernorm", .per_layer = {{"dense", 1}, {"moe", 2}}, .no_site_reason = "the model has no layer"},
                     {.label = "moe_act", .per_layer = {{"moe", 1}}, .no_site_reason = "the model has no MoE layer"},
                     {.label = "mlp", .per_layer = {{"dense", 1}}, .no_site_reason = "the model has no dense layer"},
                     {.label = "moe", .per_layer = {{"moe", 1}}, .no_site_reason = "the model has no MoE layer"},
                     {.label = "shared_experts",
                      .per_layer = {{"moe", 1}},
                      .requires_field = "moe_shared_expert_intermediate_size",
                      .no_site_reason = "the model has no shared experts"}}};
}

MlaMoeConfig mla_moe_config(const protocol::FieldMap& fields) {
  const auto description = mla_moe_description();
  const FieldReader field(description, fields);
  check_config(field);
  return {.layer_is_moe = layer_kinds(field),
          .hidden_size = field.integer("hidden_size"),
          .ffn_hidden_size = field.integer("ffn_hidden_size"),
          .padded_vocab_size = field.integer("padded_vocab_size"),
          .layernorm_epsilon = field.number("layernorm_epsilon"),
          .init_method_std = field.number("init_method_std"),
          .attention = attention_shape(field),
          .moe = moe_shape(field)};
}

double mla_moe_flops(const MlaMoeConfig& config, const protocol::TrainingSpec& training) {
  const auto h = static_cast<double>(config.hidden_size);
  const double tokens = static_cast<double>(training.global_batch_size * training.seq_length);
  const double squared_lengths = tokens * static_cast<double>(training.seq_length);
  const double dense_mlp = h * static_cast<double>(config.ffn_hidden_size) * 3;
  const double moe = h * static_cast<double>(config.moe.ffn_hidden_size * config.moe.router.topk + config.moe.shared_ffn_hidden_size) * 3;
  double per_token = h * static_cast<double>(config.padded_vocab_size);
  for (const bool is_moe : config.layer_is_moe) per_token += mla_projection_terms(config.attention) + (is_moe ? moe : dense_mlp);
  const double cores = mla_core_terms(config.attention) * static_cast<double>(config.layer_is_moe.size());
  return 6 * (tokens * per_token + squared_lengths * cores);
}

}  // namespace rematch::models

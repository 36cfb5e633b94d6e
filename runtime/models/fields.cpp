#include "runtime/models/fields.h"

#include "runtime/base/errors.h"

namespace rematch::models {

using protocol::FieldDescription;

FieldDescription integer_field(const char* name, double minimum, const char* meaning) {
  return {.name = name, .type = "integer", .minimum = minimum, .meaning = meaning};
}

FieldDescription number_field(const char* name, const char* meaning) {
  return {.name = name, .type = "number", .minimum = 0, .meaning = meaning};
}

FieldDescription choice_field(const char* name, std::vector<std::string> allowed, const char* meaning) {
  return {.name = name, .type = "string", .allowed = std::move(allowed), .meaning = meaning};
}

FieldDescription optional_field(FieldDescription field, protocol::FieldValue default_value) {
  field.default_value = std::move(default_value);
  return field;
}

FieldDescription multiple_of(std::vector<std::string> names, FieldDescription field) {
  field.multiple_of = std::move(names);
  return field;
}

FieldDescription flag_field(const char* name, const char* meaning) {
  return {.name = name, .type = "boolean", .default_value = false, .meaning = meaning};
}

Fields joined_fields(std::initializer_list<Fields> groups) {
  Fields all;
  for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

Fields stack_fields() {
  return {
      integer_field("num_layers", 1, "transformer layers"),
      integer_field("hidden_size", 1, "width of the residual stream, elements"),
      multiple_of({"tensor_model_parallel_size"}, integer_field("padded_vocab_size", 2, "rows of embedding and head")),
      number_field("layernorm_epsilon", "epsilon of RMSNorm"),
      number_field("init_method_std", "standard deviation of the initial weights"),
      optional_field(number_field("hidden_dropout", "probability that an element of the residual stream's inputs is dropped"), 0.0),
      optional_field(number_field("attention_dropout", "probability that an attention probability is dropped"), 0.0),
  };
}

Fields gqa_fields() {
  return {
      multiple_of({"num_query_groups"}, integer_field("num_attention_heads", 1, "attention heads")),
      multiple_of({"tensor_model_parallel_size"},
                  integer_field("num_query_groups", 1, "key-value heads; a divisor of num_attention_heads")),
      integer_field("kv_channels", 2, "size of one head, elements; even"),
      optional_field(choice_field("position_embedding_type", {"rope", "none"}, "rotary embedding of queries and keys"),
                     std::string("rope")),
      optional_field(number_field("rotary_percent", "part of each head that is rotated, 0 to 1"), 1.0),
      optional_field(number_field("rotary_base", "base of the rotary frequencies"), 10000.0),
      flag_field("qk_layernorm", "norms of queries and keys, head by head"),
      flag_field("attention_output_gate", "attention's output times the sigmoid of a gate projected beside the queries"),
  };
}

Fields moe_fields() {
  return {
      multiple_of({"expert_model_parallel_size"}, integer_field("num_moe_experts", 1, "routed experts of a layer, over all ranks")),
      {.name = "moe_router_topk", .type = "integer", .minimum = 1, .meaning = "experts a token", .at_most = "num_moe_experts"},
      multiple_of({"expert_tensor_parallel_size"}, integer_field("moe_ffn_hidden_size", 1, "width of one expert, elements")),
      multiple_of({"tensor_model_parallel_size"},
                  integer_field("moe_shared_expert_intermediate_size", 0, "total width of the shared experts, elements; 0: none")),
      flag_field("moe_shared_expert_gate", "the shared experts' output times the sigmoid of a gate of its own"),
      {.name = "moe_grouped_gemm", .type = "boolean", .default_value = true, .meaning = "grouped experts, which have moe_act's boundary"},
      choice_field("moe_router_score_function", {"sigmoid", "softmax"}, "router scores"),
      flag_field("moe_router_pre_softmax", "softmax over all experts before the choice; otherwise over the chosen"),
      number_field("moe_router_topk_scaling_factor", "factor on the chosen probabilities"),
      optional_field(choice_field("moe_router_load_balancing_type", {"none", "aux_loss", "seq_aux_loss", "global_aux_loss"},
                                  "load-balancing loss: none, by micro-batch, by sequence, by global batch"),
                     std::string("none")),
      optional_field(number_field("moe_aux_loss_coeff", "factor on the load-balancing loss"), 0.0),
      flag_field("moe_router_enable_expert_bias", "a bias on the scores for the choice, moved towards even loads each step"),
      optional_field(number_field("moe_router_bias_update_rate", "how far the expert bias moves in a step"), 0.001),
      flag_field("moe_router_force_load_balancing", "experts take turns, whatever the scores"),
      {.name = "moe_input_jitter_eps",
       .type = "number",
       .nullable = true,
       .minimum = 0,
       .meaning = "noise on the router's input; null: none"},
  };
}

FieldDescription zero_centered_gamma_field() { return flag_field("layernorm_zero_centered_gamma", "norm weights are kept less one"); }

FieldDescription activation_field() {
  return optional_field(choice_field("activation_func", {"swiglu", "squared_relu"}, "activation of MLPs and experts"),
                        std::string("swiglu"));
}

NormShape norm_shape(const FieldReader& field) {
  const bool zero_centered = field.has("layernorm_zero_centered_gamma") && field.boolean("layernorm_zero_centered_gamma");
  return {.hidden_size = field.integer("hidden_size"),
          .epsilon = field.number("layernorm_epsilon"),
          .gamma = zero_centered ? nn::Gamma::kZeroCentered : nn::Gamma::kPlain};
}

namespace {

nn::LoadBalancing load_balancing(const FieldReader& field) {
  if (!field.has("moe_router_load_balancing_type")) return nn::LoadBalancing::kNone;
  const auto& type = field.string("moe_router_load_balancing_type");
  if (type == "aux_loss") return nn::LoadBalancing::kAuxLoss;
  if (type == "seq_aux_loss") return nn::LoadBalancing::kSeqAuxLoss;
  if (type == "global_aux_loss") return nn::LoadBalancing::kGlobalAuxLoss;
  return nn::LoadBalancing::kNone;
}

double dropout_probability(const FieldReader& field, const char* name) {
  const double p = field.number(name);
  if (p >= 1) throw base::BadTrial(std::string("model.") + name + ": wanted at least 0 and less than 1, found " + std::to_string(p));
  return p;
}

}  // namespace

StackShape stack_shape(const FieldReader& field) {
  return {.num_layers = field.integer("num_layers"),
          .norm = norm_shape(field),
          .padded_vocab_size = field.integer("padded_vocab_size"),
          .init_method_std = field.number("init_method_std"),
          .hidden_dropout = dropout_probability(field, "hidden_dropout"),
          .load_balancing = load_balancing(field)};
}

nn::Activation activation(const FieldReader& field) {
  return field.string("activation_func") == "swiglu" ? nn::Activation::kSwiglu : nn::Activation::kSquaredRelu;
}

double attention_dropout(const FieldReader& field) { return dropout_probability(field, "attention_dropout"); }

nn::GqaShape gqa_shape(const FieldReader& field) {
  const bool rotates = field.string("position_embedding_type") == "rope";
  return {.hidden_size = field.integer("hidden_size"),
          .num_attention_heads = field.integer("num_attention_heads"),
          .num_query_groups = field.integer("num_query_groups"),
          .kv_channels = field.integer("kv_channels"),
          .position_embedding_type = rotates ? nn::PositionEmbedding::kRope : nn::PositionEmbedding::kNone,
          .rotary_percent = field.number("rotary_percent"),
          .rotary_base = field.number("rotary_base"),
          .qk_layernorm = field.boolean("qk_layernorm"),
          .attention_output_gate = field.boolean("attention_output_gate"),
          .layernorm_epsilon = field.number("layernorm_epsilon"),
          .gamma = norm_shape(field).gamma,
          .attention_dropout = attention_dropout(field)};
}

namespace {

nn::RouterShape router_shape(const FieldReader& field) {
  if (field.integer("moe_router_topk") > field.integer("num_moe_experts"))
    throw base::BadTrial("model.moe_router_topk: wanted at most num_moe_experts (" + std::to_string(field.integer("num_moe_experts")) +
                         "), found " + std::to_string(field.integer("moe_router_topk")));
  const bool sigmoid = field.string("moe_router_score_function") == "sigmoid";
  if (!sigmoid && field.boolean("moe_router_enable_expert_bias"))
    throw base::BadTrial("model.moe_router_enable_expert_bias: wanted false with moe_router_score_function softmax, found true");
  return {.num_experts = field.integer("num_moe_experts"),
          .topk = field.integer("moe_router_topk"),
          .score_function = sigmoid ? nn::ScoreFunction::kSigmoid : nn::ScoreFunction::kSoftmax,
          .pre_softmax = field.boolean("moe_router_pre_softmax"),
          .scaling_factor = field.number("moe_router_topk_scaling_factor"),
          .force_load_balancing = field.boolean("moe_router_force_load_balancing"),
          .load_balancing = load_balancing(field),
          .aux_loss_coeff = field.number("moe_aux_loss_coeff")};
}

}  // namespace

nn::MoeShape moe_shape(const FieldReader& field, nn::Activation expert_activation) {
  const bool has_bias = field.boolean("moe_router_enable_expert_bias");
  return {.hidden_size = field.integer("hidden_size"),
          .ffn_hidden_size = field.integer("moe_ffn_hidden_size"),
          .shared_ffn_hidden_size = field.integer("moe_shared_expert_intermediate_size"),
          .activation = expert_activation,
          .shared_expert_gate = field.boolean("moe_shared_expert_gate"),
          .grouped_gemm = field.boolean("moe_grouped_gemm"),
          .router = router_shape(field),
          .input_jitter_epsilon = field.optional_number("moe_input_jitter_eps").value_or(0),
          .bias_update_rate = has_bias ? std::optional(field.number("moe_router_bias_update_rate")) : std::nullopt};
}

std::vector<bool> layer_flags(const FieldReader& field, const std::string& name) {
  const auto& pattern = field.integers(name);
  const auto num_layers = static_cast<std::size_t>(field.integer("num_layers"));
  if (pattern.size() < num_layers)
    throw base::BadTrial("model." + name + ": wanted one entry a layer (" + std::to_string(num_layers) + "), found " +
                         std::to_string(pattern.size()));
  std::vector<bool> flags;
  for (std::size_t i = 0; i < num_layers; ++i) {
    if (pattern[i] != 0 && pattern[i] != 1)
      throw base::BadTrial("model." + name + ": wanted 0 or 1 for every layer, found " + std::to_string(pattern[i]));
    flags.push_back(pattern[i] == 1);
  }
  return flags;
}

}  // namespace rematch::models

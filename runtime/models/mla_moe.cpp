// Family `mla_moe`: multi-latent attention with a dense MLP or a mixture of experts, as Moonlight and DeepSeek have them. The input norm is
// a module of its own in every layer; the norm before the MLP only in an MoE layer (in a dense one it is fused into FC1).
#include "runtime/base/errors.h"
#include "runtime/models/fields.h"
#include "runtime/models/flops.h"
#include "runtime/models/model.h"
#include "runtime/models/shared_blocks.h"
#include "runtime/nn/mla.h"

namespace rematch::models {

namespace {

Fields mla_fields() {
  return {
      multiple_of({"tensor_model_parallel_size"}, integer_field("num_attention_heads", 1, "attention heads")),
      {.name = "q_lora_rank",
       .type = "integer",
       .nullable = true,
       .minimum = 1,
       .meaning = "width of the query latent, elements; null: none"},
      integer_field("kv_lora_rank", 1, "width of the key-value latent, elements"),
      integer_field("qk_head_dim", 1, "query and key size per head without position, elements"),
      integer_field("qk_pos_emb_head_dim", 2, "rotary query and key size per head, elements; even"),
      integer_field("v_head_dim", 1, "value size per head, elements"),
      flag_field("qk_layernorm", "norms of the latents, fused into the up projections"),
      number_field("rotary_base", "base of the rotary frequencies"),
      multiple_of({"tensor_model_parallel_size"}, integer_field("ffn_hidden_size", 1, "width of a dense MLP, elements")),
      {.name = "moe_layer_freq", .type = "integers", .meaning = "one entry a layer: 0 dense, 1 MoE; a longer list is cut to num_layers"},
  };
}

protocol::FamilyDescription mla_moe_description() {
  const auto everywhere = std::map<std::string, std::int64_t>{{"dense", 1}, {"moe", 1}};
  return {.name = "mla_moe",
          .fields = joined_fields({stack_fields(), mla_fields(), moe_fields()}),
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

nn::MlaShape mla_shape(const FieldReader& field) {
  if (field.integer("qk_pos_emb_head_dim") % 2 != 0)
    throw base::BadTrial("model.qk_pos_emb_head_dim: wanted an even number, found " + std::to_string(field.integer("qk_pos_emb_head_dim")));
  return {.hidden_size = field.integer("hidden_size"),
          .num_attention_heads = field.integer("num_attention_heads"),
          .q_lora_rank = field.optional_integer("q_lora_rank"),
          .kv_lora_rank = field.integer("kv_lora_rank"),
          .qk_head_dim = field.integer("qk_head_dim"),
          .qk_pos_emb_head_dim = field.integer("qk_pos_emb_head_dim"),
          .v_head_dim = field.integer("v_head_dim"),
          .qk_layernorm = field.boolean("qk_layernorm"),
          .layernorm_epsilon = field.number("layernorm_epsilon"),
          .rotary_base = field.number("rotary_base"),
          .attention_dropout = attention_dropout(field)};
}

class MlaMoeFamily final : public Family {
 public:
  protocol::FamilyDescription describe() const override { return mla_moe_description(); }

  std::unique_ptr<Model> build(const protocol::FieldMap& fields, const BuildContext& context) const override {
    const auto description = mla_moe_description();
    const FieldReader field(description, fields);
    const auto stack = stack_shape(field);
    auto attention = mla_shape(field);
    attention.attention_backend = context.attention_backend;
    const auto moe = moe_shape(field, nn::Activation::kSwiglu);
    const auto is_moe = layer_flags(field, "moe_layer_freq");
    const auto make_layer = [&](std::int64_t index, const std::string& name) {
      Layer layer{.name = name, .blocks = {}};
      OwnNorm norm(name + ".input_layernorm", stack.norm, context);
      auto mixer = std::make_unique<MixerOf<nn::MultiLatentAttention>>(name + ".self_attention", attention, context.modules);
      layer.blocks.emplace_back(std::move(norm), std::move(mixer), stack.hidden_dropout);
      if (is_moe[static_cast<std::size_t>(index)])
        layer.blocks.push_back(moe_block(name, moe, stack, context));
      else
        layer.blocks.push_back(dense_block(name, {field.integer("ffn_hidden_size"), nn::Activation::kSwiglu}, stack, context));
      return layer;
    };
    return make_layer_stack(stack, make_layer, context);
  }

  double flops_per_step(const protocol::FieldMap& fields, const protocol::TrainingSpec& training) const override {
    const auto description = mla_moe_description();
    const FieldReader field(description, fields);
    Work work = logits_work(stack_shape(field));
    for (const bool is_moe : layer_flags(field, "moe_layer_freq")) {
      work += mla_work(mla_shape(field));
      work += is_moe ? moe_work(moe_shape(field, nn::Activation::kSwiglu))
                     : mlp_work(field.integer("hidden_size"), field.integer("ffn_hidden_size"), nn::Activation::kSwiglu);
    }
    return step_flops(work, training);
  }
};

}  // namespace

const Family& mla_moe_family() {
  static const MlaMoeFamily family;
  return family;
}

}  // namespace rematch::models

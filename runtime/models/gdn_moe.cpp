// Family `gdn_moe`: gated delta net in most layers and gated attention in the others, a mixture of experts in all, as Qwen3-Next has them.
// The input norm is fused into the mixer's first linear layer; the norm before the experts is a module of its own.
#include "runtime/base/errors.h"
#include "runtime/models/fields.h"
#include "runtime/models/flops.h"
#include "runtime/models/model.h"
#include "runtime/models/shared_blocks.h"
#include "runtime/nn/gated_delta_net.h"

namespace rematch::models {

namespace {

Fields gdn_fields() {
  return {
      {.name = "linear_attention_freq",
       .type = "integers",
       .meaning = "one entry a layer: 0 attention, 1 gated delta net; a longer list is cut to num_layers"},
      multiple_of({"tensor_model_parallel_size", "context_parallel_size"},
                  integer_field("linear_num_key_heads", 1, "key heads of a gated delta net")),
      integer_field("linear_key_head_dim", 1, "size of one key head, elements"),
      multiple_of({"linear_num_key_heads"}, integer_field("linear_num_value_heads", 1, "value heads; a multiple of linear_num_key_heads")),
      integer_field("linear_value_head_dim", 1, "size of one value head, elements"),
      integer_field("linear_conv_kernel_dim", 1, "width of the causal convolution, tokens"),
      zero_centered_gamma_field(),
  };
}

protocol::FamilyDescription gdn_moe_description() {
  const auto everywhere = std::map<std::string, std::int64_t>{{"attention", 1}, {"gdn", 1}};
  return {.name = "gdn_moe",
          .fields = joined_fields({stack_fields(), gdn_fields(), gqa_fields(), moe_fields()}),
          .layer_kind_field = "linear_attention_freq",
          .layer_kinds = {"attention", "gdn"},
          .labels = {{.label = "core_attn", .per_layer = {{"attention", 1}}, .no_site_reason = "the model has no attention layer"},
                     {.label = "layernorm", .per_layer = everywhere, .no_site_reason = "the model has no layer"},
                     {.label = "moe_act", .per_layer = everywhere, .no_site_reason = "the model has no layer"},
                     {.label = "moe", .per_layer = everywhere, .no_site_reason = "the model has no layer"},
                     {.label = "shared_experts",
                      .per_layer = everywhere,
                      .requires_field = "moe_shared_expert_intermediate_size",
                      .no_site_reason = "the model has no shared experts"},
                     {.label = "gdn_norm_out", .per_layer = {{"gdn", 1}}, .no_site_reason = "the model has no gated delta net"}}};
}

nn::GatedDeltaNetShape gdn_shape(const FieldReader& field) {
  return {.hidden_size = field.integer("hidden_size"),
          .linear_num_key_heads = field.integer("linear_num_key_heads"),
          .linear_key_head_dim = field.integer("linear_key_head_dim"),
          .linear_num_value_heads = field.integer("linear_num_value_heads"),
          .linear_value_head_dim = field.integer("linear_value_head_dim"),
          .linear_conv_kernel_dim = field.integer("linear_conv_kernel_dim"),
          .gamma = norm_shape(field).gamma,
          .layernorm_epsilon = field.number("layernorm_epsilon")};
}

Work gdn_work(const nn::GatedDeltaNetShape& shape) {
  const auto h = static_cast<double>(shape.hidden_size), value_heads = static_cast<double>(shape.linear_num_value_heads);
  const auto key = static_cast<double>(shape.linear_num_key_heads * shape.linear_key_head_dim);
  const auto value_head = static_cast<double>(shape.linear_value_head_dim), value = value_heads * value_head;
  const auto kernel = static_cast<double>(shape.linear_conv_kernel_dim);
  return {.per_token = h * (2 * key + 2 * value + 2 * value_heads) + kernel * (2 * key + value) +
                       4 * value_heads * value_head * value_head + h * value};
}

class GdnMoeFamily final : public Family {
 public:
  protocol::FamilyDescription describe() const override { return gdn_moe_description(); }

  std::unique_ptr<Model> build(const protocol::FieldMap& fields, const BuildContext& context) const override {
    const auto description = gdn_moe_description();
    const FieldReader field(description, fields);
    const auto stack = stack_shape(field);
    const auto is_gdn = layer_flags(field, "linear_attention_freq");
    const auto moe = moe_shape(field, nn::Activation::kSwiglu);
    const auto make_layer = [&](std::int64_t index, const std::string& name) {
      Layer layer{.name = name, .blocks = {}};
      layer.blocks.emplace_back(make_mixer(is_gdn[static_cast<std::size_t>(index)], name, field, context), stack.hidden_dropout);
      layer.blocks.push_back(moe_block(name, moe, stack, context));
      return layer;
    };
    return make_layer_stack(stack, make_layer, context);
  }

  double flops_per_step(const protocol::FieldMap& fields, const protocol::TrainingSpec& training) const override {
    const auto description = gdn_moe_description();
    const FieldReader field(description, fields);
    Work work = logits_work(stack_shape(field));
    for (const bool is_gdn : layer_flags(field, "linear_attention_freq")) {
      work += is_gdn ? gdn_work(gdn_shape(field)) : gqa_work(gqa_shape(field));
      work += moe_work(moe_shape(field, nn::Activation::kSwiglu));
    }
    return step_flops(work, training);
  }

 private:
  static std::unique_ptr<Mixer> make_mixer(bool is_gdn, const std::string& name, const FieldReader& field, const BuildContext& context) {
    if (is_gdn) return std::make_unique<MixerOf<nn::GatedDeltaNet>>(name + ".self_attention", gdn_shape(field), context.modules);
    return gqa_mixer(name, gqa_shape(field), context);
  }
};

}  // namespace

const Family& gdn_moe_family() {
  static const GdnMoeFamily family;
  return family;
}

}  // namespace rematch::models

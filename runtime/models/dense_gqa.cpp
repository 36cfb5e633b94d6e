// Family `dense_gqa`: grouped-query attention and a gated MLP in every layer, as Llama has them. Both norms are fused into the linear
// layers behind them, so `layernorm` has no site.
#include "runtime/models/fields.h"
#include "runtime/models/flops.h"
#include "runtime/models/model.h"
#include "runtime/models/shared_blocks.h"

namespace rematch::models {

namespace {

protocol::FamilyDescription dense_gqa_description() {
  const auto everywhere = std::map<std::string, std::int64_t>{{"dense", 1}};
  const Fields own = {multiple_of({"tensor_model_parallel_size"}, integer_field("ffn_hidden_size", 1, "width of the MLP, elements")),
                      activation_field(), zero_centered_gamma_field()};
  return {.name = "dense_gqa",
          .fields = joined_fields({stack_fields(), gqa_fields(), own}),
          .layer_kind_field = "",
          .layer_kinds = {"dense"},
          .labels = {{.label = "core_attn", .per_layer = everywhere, .no_site_reason = "the model has no layer"},
                     {.label = "layernorm",
                      .per_layer = {},
                      .no_site_reason = "both norms are fused into the linear layers behind them (linear_qkv, linear_fc1)"},
                     {.label = "mlp", .per_layer = everywhere, .no_site_reason = "the model has no layer"}}};
}

class DenseGqaFamily final : public Family {
 public:
  protocol::FamilyDescription describe() const override { return dense_gqa_description(); }

  std::unique_ptr<Model> build(const protocol::FieldMap& fields, const BuildContext& context) const override {
    const auto description = dense_gqa_description();
    const FieldReader field(description, fields);
    const auto stack = stack_shape(field);
    const auto attention = gqa_shape(field);
    const DenseShape dense{field.integer("ffn_hidden_size"), activation(field)};
    const auto make_layer = [&](std::int64_t, const std::string& name) {
      Layer layer{.name = name, .blocks = {}};
      layer.blocks.emplace_back(gqa_mixer(name, attention, context), stack.hidden_dropout);
      layer.blocks.push_back(dense_block(name, dense, stack, context));
      return layer;
    };
    return make_layer_stack(stack, make_layer, context);
  }

  double flops_per_step(const protocol::FieldMap& fields, const protocol::TrainingSpec& training) const override {
    const auto description = dense_gqa_description();
    const FieldReader field(description, fields);
    const auto stack = stack_shape(field);
    Work work = logits_work(stack);
    for (std::int64_t i = 0; i < stack.num_layers; ++i) {
      work += gqa_work(gqa_shape(field));
      work += mlp_work(stack.norm.hidden_size, field.integer("ffn_hidden_size"), activation(field));
    }
    return step_flops(work, training);
  }
};

}  // namespace

const Family& dense_gqa_family() {
  static const DenseGqaFamily family;
  return family;
}

}  // namespace rematch::models

// Family `hybrid`: layers of one block each by a pattern string, as Nemotron 3 Nano has them: M Mamba2, * attention, E mixture of experts,
// - dense MLP. The norm is a module of its own before a mixture of experts only.
#include "runtime/base/errors.h"
#include "runtime/models/fields.h"
#include "runtime/models/flops.h"
#include "runtime/models/model.h"
#include "runtime/models/shared_blocks.h"
#include "runtime/nn/mamba.h"

namespace rematch::models {

namespace {

Fields hybrid_fields() {
  return {
      {.name = "hybrid_layer_pattern",
       .type = "string",
       .meaning = "one character a layer: M Mamba2, * attention, E mixture of experts, - dense MLP; a longer one is cut to num_layers"},
      multiple_of({"mamba_num_groups"}, integer_field("mamba_num_heads", 1, "heads of a Mamba2 layer")),
      integer_field("mamba_head_dim", 1, "size of one head, elements"),
      integer_field("mamba_state_dim", 1, "size of the state, elements"),
      multiple_of({"tensor_model_parallel_size"},
                  integer_field("mamba_num_groups", 1, "groups that share B and C; a divisor of mamba_num_heads")),
      multiple_of({"tensor_model_parallel_size"}, integer_field("ffn_hidden_size", 1, "width of a dense MLP, elements")),
      activation_field(),
  };
}

protocol::FamilyDescription hybrid_description() {
  const auto only = [](const char* kind) { return std::map<std::string, std::int64_t>{{kind, 1}}; };
  return {.name = "hybrid",
          .fields = joined_fields({stack_fields(), hybrid_fields(), gqa_fields(), moe_fields()}),
          .layer_kind_field = "hybrid_layer_pattern",
          .layer_kinds = {"M", "*", "E", "-"},
          .unsplit_kinds = {{"context_parallel_size", {"M"}}},
          .labels = {{.label = "core_attn", .per_layer = only("*"), .no_site_reason = "the pattern has no attention layer (*)"},
                     {.label = "layernorm",
                      .per_layer = only("E"),
                      .no_site_reason = "the norm is a module of its own before a mixture of experts (E) only, and the pattern has none"},
                     {.label = "moe_act", .per_layer = only("E"), .no_site_reason = "the pattern has no mixture of experts (E)"},
                     {.label = "mlp", .per_layer = only("-"), .no_site_reason = "the pattern has no dense MLP (-)"},
                     {.label = "moe", .per_layer = only("E"), .no_site_reason = "the pattern has no mixture of experts (E)"},
                     {.label = "shared_experts",
                      .per_layer = only("E"),
                      .requires_field = "moe_shared_expert_intermediate_size",
                      .no_site_reason = "the model has no shared experts"}}};
}

std::string layer_pattern(const FieldReader& field) {
  const auto& pattern = field.string("hybrid_layer_pattern");
  const auto num_layers = static_cast<std::size_t>(field.integer("num_layers"));
  if (pattern.size() < num_layers)
    throw base::BadTrial("model.hybrid_layer_pattern: wanted one character a layer (" + std::to_string(num_layers) + "), found " +
                         std::to_string(pattern.size()));
  const auto wrong = pattern.find_first_not_of("M*E-");
  if (wrong != std::string::npos)
    throw base::BadTrial("model.hybrid_layer_pattern: wanted M, *, E or - for every layer, found '" + pattern.substr(wrong, 1) + "'");
  return pattern.substr(0, num_layers);
}

nn::Mamba2Shape mamba_shape(const FieldReader& field) {
  return {.hidden_size = field.integer("hidden_size"),
          .mamba_num_heads = field.integer("mamba_num_heads"),
          .mamba_head_dim = field.integer("mamba_head_dim"),
          .mamba_state_dim = field.integer("mamba_state_dim"),
          .mamba_num_groups = field.integer("mamba_num_groups"),
          .layernorm_epsilon = field.number("layernorm_epsilon")};
}

// Megatron's hybrid formula. Its inner width is 2 h whatever the heads are, which over-counts Nemotron 3 Nano; kept, so that figures
// compare.
Work mamba_work(const nn::Mamba2Shape& shape) {
  const auto h = static_cast<double>(shape.hidden_size), inner = 2 * h;
  const auto state = static_cast<double>(shape.mamba_state_dim), groups = static_cast<double>(shape.mamba_num_groups);
  const double projection = h * (2 * inner + 2 * groups * state + static_cast<double>(shape.mamba_num_heads)) + inner * h;
  return {.per_token = projection + 3.5 * inner * state};
}

Work layer_work(char kind, const FieldReader& field) {
  switch (kind) {
    case 'M': return mamba_work(mamba_shape(field));
    case '*': return gqa_work(gqa_shape(field));
    case 'E': return moe_work(moe_shape(field, activation(field)));
    default: return mlp_work(field.integer("hidden_size"), field.integer("ffn_hidden_size"), activation(field));
  }
}

class HybridFamily final : public Family {
 public:
  protocol::FamilyDescription describe() const override { return hybrid_description(); }

  std::unique_ptr<Model> build(const protocol::FieldMap& fields, const BuildContext& context) const override {
    const auto description = hybrid_description();
    const FieldReader field(description, fields);
    const auto stack = stack_shape(field);
    const auto pattern = layer_pattern(field);
    const auto make_layer = [&](std::int64_t index, const std::string& name) {
      Layer layer{.name = name, .blocks = {}};
      layer.blocks.push_back(make_block(pattern[static_cast<std::size_t>(index)], name, field, stack, context));
      return layer;
    };
    return make_layer_stack(stack, make_layer, context);
  }

  double flops_per_step(const protocol::FieldMap& fields, const protocol::TrainingSpec& training) const override {
    const auto description = hybrid_description();
    const FieldReader field(description, fields);
    Work work = logits_work(stack_shape(field));
    for (const char kind : layer_pattern(field)) work += layer_work(kind, field);
    return step_flops(work, training);
  }

 private:
  static Block make_block(char kind, const std::string& name, const FieldReader& field, const StackShape& stack,
                          const BuildContext& context) {
    switch (kind) {
      case 'M':
        return {std::make_unique<MixerOf<nn::Mamba2Mixer>>(name + ".mixer", mamba_shape(field), context.modules), stack.hidden_dropout};
      case '*': return {gqa_mixer(name, gqa_shape(field), context), stack.hidden_dropout};
      case 'E': return moe_block(name, moe_shape(field, activation(field)), stack, context);
      default: return dense_block(name, {field.integer("ffn_hidden_size"), activation(field)}, stack, context);
    }
  }
};

}  // namespace

const Family& hybrid_family() {
  static const HybridFamily family;
  return family;
}

}  // namespace rematch::models

#include "runtime/models/shared_blocks.h"

#include "runtime/nn/mlp.h"

namespace rematch::models {

std::unique_ptr<Mixer> gqa_mixer(const std::string& layer, nn::GqaShape attention, const BuildContext& context) {
  attention.attention_backend = context.attention_backend;
  return std::make_unique<MixerOf<nn::GroupedQueryAttention>>(layer + ".self_attention", attention, context.modules);
}

Block dense_block(const std::string& layer, const DenseShape& shape, const StackShape& stack, const BuildContext& context) {
  const nn::DenseMlpShape mlp{.mlp = {stack.norm.hidden_size, shape.ffn_hidden_size, shape.activation},
                              .layernorm_epsilon = stack.norm.epsilon,
                              .gamma = stack.norm.gamma};
  return {std::make_unique<MixerOf<nn::DenseMlp>>(layer, mlp, context.modules), stack.hidden_dropout};
}

Block moe_block(const std::string& layer, nn::MoeShape shape, const StackShape& stack, const BuildContext& context) {
  shape.shared_expert_overlap = context.shared_expert_overlap;
  if (context.expert_load)
    shape.assumed_shares = protocol::expert_shares(*context.expert_load, shape.router.num_experts, context.modules.mesh.expert().size());
  OwnNorm norm(layer + ".pre_mlp_layernorm", stack.norm, context);
  auto moe = std::make_unique<MixerOf<nn::MoeLayer>>(layer + ".mlp", shape, context.modules, context.loss_scale);
  return {std::move(norm), std::move(moe), stack.hidden_dropout};
}

}  // namespace rematch::models

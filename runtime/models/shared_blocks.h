// What the layers of several families are made of.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/models/layer_stack.h"
#include "runtime/nn/activation.h"
#include "runtime/nn/gqa.h"
#include "runtime/nn/moe.h"

namespace rematch::models {

struct DenseShape {
  std::int64_t ffn_hidden_size = 0;
  nn::Activation activation = nn::Activation::kSwiglu;
};

// The norm is fused into the query-key-value projection. `attention.attention_backend` becomes the context's.
std::unique_ptr<Mixer> gqa_mixer(const std::string& layer, nn::GqaShape attention, const BuildContext& context);
// The norm is fused into FC1: region `mlp` covers both.
Block dense_block(const std::string& layer, const DenseShape& shape, const StackShape& stack, const BuildContext& context);
// The norm is a module of its own. `shape.shared_expert_overlap` becomes the context's.
Block moe_block(const std::string& layer, nn::MoeShape shape, const StackShape& stack, const BuildContext& context);

}  // namespace rematch::models

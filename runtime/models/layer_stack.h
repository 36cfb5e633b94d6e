// The frame that all families share: embedding, a stack of layers (whole ones recomputed under full recompute), final norm, head, loss; or
// that part of it that a model chunk has. Embedding, final norm, head and loss are never recomputed.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/models/block.h"
#include "runtime/models/model.h"
#include "runtime/nn/parameter.h"

namespace rematch::models {

struct Layer {
  std::string name;  // "layers.3"
  std::vector<Block> blocks;
};

struct StackShape {
  std::int64_t num_layers = 0;
  NormShape norm;
  std::int64_t padded_vocab_size = 0;
  double init_method_std = 0;
  double hidden_dropout = 0;
  nn::LoadBalancing load_balancing = nn::LoadBalancing::kNone;
};

// Makes the layer of this index in the whole model; called once a layer of the chunk, in order, between the declarations of embedding and
// head.
using LayerMaker = std::function<Layer(std::int64_t index, const std::string& name)>;

std::unique_ptr<Model> make_layer_stack(const StackShape& shape, const LayerMaker& make_layer, const BuildContext& context);

}  // namespace rematch::models

#include "runtime/models/layer_stack.h"

#include <ATen/ATen.h>

#include <utility>

#include "runtime/base/scope.h"
#include "runtime/nn/cross_entropy.h"
#include "runtime/nn/dropout.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/input_shard.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/norm_weight.h"
#include "runtime/recompute/region_times.h"

namespace rematch::models {

namespace {

// Megatron's names in its log line.
std::string loss_name(nn::LoadBalancing type) {
  switch (type) {
    case nn::LoadBalancing::kNone: return "";
    case nn::LoadBalancing::kAuxLoss: return "load_balancing_loss";
    case nn::LoadBalancing::kSeqAuxLoss: return "seq_load_balancing_loss";
    case nn::LoadBalancing::kGlobalAuxLoss: return "global_load_balancing_loss";
  }
  return "";
}

class LayerStack final : public Model {
 public:
  LayerStack(const StackShape& shape, const LayerMaker& make_layer, const BuildContext& context);

  at::Tensor forward(const ModelInput& input) override;
  void finish_step() override;
  std::map<std::string, AuxLoss> take_aux_losses() override;
  std::vector<std::int64_t> tokens_received() const override;
  std::int64_t vocab_size() const override { return shape_.padded_vocab_size; }
  std::int64_t hidden_size() const override { return shape_.norm.hidden_size; }
  double init_method_std() const override { return shape_.init_method_std; }

 private:
  // Layers that full recompute takes together; every layer by itself otherwise.
  struct Group {
    recompute::LayerGroup layers;
    std::optional<recompute::Region> region;  // where the group is checkpointed
  };

  // Final norm, output layer and loss.
  struct Head {
    nn::Parameter* norm;
    nn::Parameter* table;
  };

  void make_layers(const protocol::ChunkLayers& chunk, const LayerMaker& make_layer, const BuildContext& context);
  at::Tensor embedded(const at::Tensor& ids_T) const;
  std::optional<random::StreamScope> layer_stream() const;
  at::Tensor run_group(const Group& group, const at::Tensor& x_TH, nn::SequenceShape sequence);
  at::Tensor loss(const Head& head, at::Tensor x_TH, const at::Tensor& labels_T) const;

  StackShape shape_;
  nn::TensorParallel tensor_parallel_;
  nn::LogitsGradient logits_gradient_;
  random::RandomStreams& random_;
  recompute::InputShard input_shard_;   // for distribute_saved_activations
  nn::Parameter* embedding_ = nullptr;  // null where the chunk has none
  std::vector<Layer> layers_;
  std::vector<nn::MoeLayer*> moe_layers_;
  std::vector<Group> groups_;
  std::optional<Head> head_;
};

LayerStack::LayerStack(const StackShape& shape, const LayerMaker& make_layer, const BuildContext& context)
    : shape_(shape),
      tensor_parallel_(context.modules.mesh),
      logits_gradient_(context.logits_gradient),
      random_(context.modules.policy.random()),
      input_shard_(nn::shard_over(context.modules.mesh.tensor())) {
  auto& store = context.modules.store;
  const std::vector<std::int64_t> table = {shape.padded_vocab_size, shape.norm.hidden_size};
  const auto chunk = context.layers.value_or(protocol::ChunkLayers{.count = shape.num_layers});
  if (chunk.has_embedding)
    embedding_ = store.declare(tensor_parallel_.cut_outputs({.name = "embedding.word_embeddings.weight", .shape = table}));
  make_layers(chunk, make_layer, context);
  if (!chunk.has_head) return;
  auto* norm =
      nn::declare_norm_weight(store, {"final_layernorm.weight", shape.norm.hidden_size, shape.norm.gamma, tensor_parallel_.grad_of_rows()});
  head_ = Head{norm, store.declare(tensor_parallel_.cut_outputs({.name = "output_layer.weight", .shape = table}))};
}

void LayerStack::make_layers(const protocol::ChunkLayers& chunk, const LayerMaker& make_layer, const BuildContext& context) {
  for (auto i = chunk.first; i < chunk.first + chunk.count; ++i) {
    layers_.push_back(make_layer(i, "layers." + std::to_string(i)));
    for (auto& block : layers_.back().blocks)
      if (block.moe()) moe_layers_.push_back(block.moe());
  }
  const auto* shard = context.modules.mesh.tensor().size() == 1 ? nullptr : &input_shard_;
  for (const auto& group : recompute::layer_groups(context.modules.policy.resolved(), chunk.count)) {
    groups_.push_back({group, std::nullopt});
    if (group.checkpointed) groups_.back().region.emplace(context.modules.policy.layer_group(group, shard));
  }
}

at::Tensor LayerStack::embedded(const at::Tensor& ids_T) const {
  auto x_TH = nn::vocab_parallel_embed(ids_T, embedding_->tensor, tensor_parallel_);
  const auto stream = layer_stream();
  return shape_.hidden_dropout > 0 ? nn::dropout_layer(x_TH, shape_.hidden_dropout) : x_TH;
}

// Where rows are sharded, what the ranks draw for their rows must differ, from the embedding's dropout to the last layer.
std::optional<random::StreamScope> LayerStack::layer_stream() const {
  if (!tensor_parallel_.shards_rows()) return std::nullopt;
  return std::optional<random::StreamScope>(std::in_place, random_, random::kModelParallelStream);
}

at::Tensor LayerStack::run_group(const Group& group, const at::Tensor& x_TH, nn::SequenceShape sequence) {
  const auto run = [this, &layers = group.layers, sequence](const recompute::Tensors& in) {
    auto stream_TH = in[0];
    for (auto i = layers.first; i < layers.first + layers.count; ++i) {
      auto& layer = layers_[static_cast<std::size_t>(i)];
      const base::ModuleScope scope(layer.name);
      const recompute::RegionTimer timer(layer.name, recompute::Pass::kForward);
      for (auto& block : layer.blocks) stream_TH = block.forward(stream_TH, sequence);
    }
    return recompute::Tensors{stream_TH};
  };
  return group.region ? group.region->run(run, {x_TH}).tensors[0] : run({x_TH})[0];
}

at::Tensor LayerStack::loss(const Head& head, at::Tensor x_TH, const at::Tensor& labels_T) const {
  const base::ModuleScope scope("output_layer");
  x_TH = nn::rms_norm(x_TH, head.norm->tensor, shape_.norm.epsilon, shape_.norm.gamma);
  const base::RoleScope role(protocol::Role::kLogitsAndLoss);
  // No name for the logits: they go as soon as the loss has made their gradient, or are the loss's alone.
  return nn::vocab_parallel_cross_entropy(nn::column_parallel_linear(x_TH, head.table->tensor, tensor_parallel_), labels_T,
                                          tensor_parallel_, logits_gradient_);
}

at::Tensor LayerStack::forward(const ModelInput& input) {
  auto x_TH = embedding_ != nullptr ? embedded(input.ids_T) : input.hidden_TH;
  {
    const auto stream = layer_stream();
    for (const auto& group : groups_) x_TH = run_group(group, x_TH, input.sequence);
  }
  return head_ ? loss(*head_, std::move(x_TH), input.labels_T) : x_TH;
}

void LayerStack::finish_step() {
  for (auto* moe : moe_layers_) moe->tracker().finish_step();
}

std::map<std::string, AuxLoss> LayerStack::take_aux_losses() {
  if (shape_.load_balancing == nn::LoadBalancing::kNone) return {};
  AuxLoss all;
  for (auto* moe : moe_layers_)
    if (const auto loss = moe->tracker().take_loss()) all.sum += *loss, ++all.num_layers;
  return {{loss_name(shape_.load_balancing), all}};
}

std::vector<std::int64_t> LayerStack::tokens_received() const {
  std::vector<std::int64_t> received;
  for (const auto* moe : moe_layers_) received.push_back(moe->tokens_received());
  return received;
}

}  // namespace

std::unique_ptr<Model> make_layer_stack(const StackShape& shape, const LayerMaker& make_layer, const BuildContext& context) {
  return std::make_unique<LayerStack>(shape, make_layer, context);
}

}  // namespace rematch::models

#include "runtime/train/built_model.h"

#include "probes/device/charge.h"
#include "runtime/train/mock_data.h"

namespace rematch::train {

namespace {

constexpr std::int64_t kSeedStep = 100;  // from one pipeline rank to the next, as Megatron's _set_random_seed

nn::AttentionBackend attention_backend(const std::string& name) {
  return name == "unfused" ? nn::AttentionBackend::kUnfused : nn::AttentionBackend::kFused;
}

nn::LogitsGradient logits_gradient(const std::string& name) {
  return name == "in_place" ? nn::LogitsGradient::kInPlace : nn::LogitsGradient::kFp32;
}

std::int64_t num_elements(const nn::ParameterStore& store) {
  std::int64_t sum = 0;
  for (const auto& parameter : store.all()) sum += parameter.num_elements();
  return sum;
}

// Of the chunk on all ranks that have a part of it.
std::int64_t num_elements_of_all(const nn::ParameterStore& store, const mesh::Mesh& mesh) {
  std::int64_t sum = 0;
  for (const auto& parameter : store.all()) {
    const auto num_parts = parameter.declaration.split ? parameter.declaration.split->count : 1;
    sum += parameter.num_elements() * num_parts * (parameter.declaration.kind == nn::ParameterKind::kExpert ? mesh.expert().size() : 1);
  }
  return sum;
}

}  // namespace

BuiltModel::BuiltModel(const protocol::Trial& trial, const protocol::RecomputeSpec& resolved, const mesh::Mesh& mesh)
    : trial_(trial),
      mesh_(mesh),
      sequence_{.length = trial.training.seq_length / mesh.dims().context_size(),
                .batch = trial.training.micro_batch_size,
                .place = {mesh.context().rank(), mesh.context().size()}},
      num_microbatches_(trial.training.global_batch_size / (trial.training.micro_batch_size * mesh.dims().data_parallel_size())),
      policy_(resolved, mesh.device()) {
  random::seed_streams(policy_.random(), {.seed = trial.training.seed + kSeedStep * mesh.pipeline().rank(),
                                          .tensor_parallel_rank = mesh.tensor().rank(),
                                          .expert_parallel_rank = mesh.expert().rank()});
  const auto num_layers = models::num_layers(trial.model);
  for (std::int64_t i = 0; i < mesh.dims().num_model_chunks(); ++i) {
    auto& chunk = chunks_.emplace_back();
    chunk.layers = protocol::chunk_layers(num_layers, trial.parallel, mesh.pipeline().rank(), i);
    chunk.model = build(chunk.layers, chunk.store, policy_);
    chunk.buffers = parallel::place_parameters(chunk.store, mesh, {.optimizer = trial.optimizer, .model_chunk = i, .dummies = dummies_});
    for (const auto& parameter : chunk.store.all()) nn::initialise(parameter, trial.training.seed, chunk.model->init_method_std());
  }
}

std::unique_ptr<models::Model> BuiltModel::build(const protocol::ChunkLayers& layers, nn::ParameterStore& store,
                                                 recompute::Policy& policy) const {
  return models::family_named(trial_.model.family)
      .build(trial_.model.fields, {.modules = {mesh_, store, policy},
                                   .attention_backend = attention_backend(trial_.backend.attention),
                                   .loss_scale = 1.0 / static_cast<double>(num_microbatches_),
                                   .shared_expert_overlap = trial_.features.moe_shared_expert_overlap,
                                   .logits_gradient = logits_gradient(trial_.features.cross_entropy_gradient),
                                   .expert_load = trial_.prediction ? std::optional(trial_.prediction->expert_load) : std::nullopt,
                                   .layers = layers});
}

std::vector<parallel::ParamBuffer*> BuiltModel::buffers() const {
  std::vector<parallel::ParamBuffer*> all;
  for (const auto& chunk : chunks_)
    for (const auto& buffer : chunk.buffers) all.push_back(buffer.get());
  return all;
}

std::vector<std::int64_t> BuiltModel::stream_shape() const {
  const auto& dims = mesh_.dims();
  const auto num_shards = dims.spec().sequence_parallel ? dims.tensor_size() : 1;
  return {sequence_.num_tokens() / num_shards, chunks_.front().model->hidden_size()};
}

models::ModelInput BuiltModel::input(std::int64_t step, std::int64_t micro_batch, std::int64_t chunk) const {
  const auto& [layers, store, model, buffers] = chunks_[static_cast<std::size_t>(chunk)];
  models::ModelInput input{.sequence = sequence_};
  input.sequence.micro_batch = micro_batch;
  if (!layers.has_embedding && !layers.has_head) return input;
  const auto sample =
      step * trial_.training.global_batch_size + (micro_batch * mesh_.dims().data_parallel_size() + mesh_.data().rank()) * sequence_.batch;
  const auto batch = mock_batch({trial_.training.seed, sample, input.sequence, model->vocab_size()}, mesh_.device());
  if (layers.has_embedding) input.ids_T = batch.ids_T;
  if (layers.has_head) input.labels_T = batch.labels_T;
  return input;
}

void BuiltModel::finish_step() {
  for (const auto& chunk : chunks_) chunk.model->finish_step();
}

std::map<std::string, models::AuxLoss> BuiltModel::take_aux_losses() {
  std::map<std::string, models::AuxLoss> all;
  for (const auto& chunk : chunks_)
    for (const auto& [name, loss] : chunk.model->take_aux_losses()) {
      all[name].sum += loss.sum;
      all[name].num_layers += loss.num_layers;
    }
  return all;
}

std::vector<std::int64_t> BuiltModel::tokens_received() const {
  std::vector<std::int64_t> all;
  for (const auto& chunk : chunks_) {
    const auto received = chunk.model->tokens_received();
    all.insert(all.end(), received.begin(), received.end());
  }
  return all;
}

// Other pipeline ranks' chunks are declared here as well, without memory for them, and only counted.
std::int64_t BuiltModel::num_parameters_total() const {
  const probes::ScratchScope scratch;
  std::int64_t sum = 0;
  for (std::int64_t rank = 0; rank < mesh_.dims().pipeline_size(); ++rank)
    for (std::int64_t i = 0; i < mesh_.dims().num_model_chunks(); ++i) {
      recompute::Policy policy(policy_.resolved(), mesh_.device());
      nn::ParameterStore store;
      build(protocol::chunk_layers(models::num_layers(trial_.model), trial_.parallel, rank, i), store, policy);
      sum += num_elements_of_all(store, mesh_);
    }
  return sum;
}

protocol::ModelRecord BuiltModel::record() const {
  protocol::ModelRecord record;
  for (const auto& chunk : chunks_) record.num_parameters_local += num_elements(chunk.store);
  record.num_parameters_total = num_parameters_total();
  record.flops_per_step = models::family_named(trial_.model.family).flops_per_step(trial_.model.fields, trial_.training);
  record.sites = policy_.sites();
  record.sites_available = policy_.sites_available();
  return record;
}

}  // namespace rematch::train

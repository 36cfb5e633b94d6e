#include "runtime/train/built_model.h"

namespace rematch::train {

namespace {

nn::AttentionBackend attention_backend(const std::string& name) {
  return name == "unfused" ? nn::AttentionBackend::kUnfused : nn::AttentionBackend::kFused;
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
  random::seed_streams(
      policy_.random(),
      {.seed = trial.training.seed, .tensor_parallel_rank = mesh.tensor().rank(), .expert_parallel_rank = mesh.expert().rank()});
  model_ = models::family_named(trial.model.family)
               .build(trial.model.fields, {.modules = {mesh, store_, policy_},
                                           .attention_backend = attention_backend(trial.backend.attention),
                                           .loss_scale = 1.0 / static_cast<double>(num_microbatches_),
                                           .shared_expert_overlap = trial.features.moe_shared_expert_overlap});
  buffers_ = parallel::place_parameters(store_, mesh, trial.optimizer, dummies_);
  for (const auto& parameter : store_.all()) nn::initialise(parameter, trial.training.seed, model_->init_method_std());
}

std::vector<parallel::ParamBuffer*> BuiltModel::buffers() const {
  std::vector<parallel::ParamBuffer*> all;
  for (const auto& buffer : buffers_) all.push_back(buffer.get());
  return all;
}

Batch BuiltModel::batch(std::int64_t step, std::int64_t micro_batch) const {
  const auto sample =
      step * trial_.training.global_batch_size + (micro_batch * mesh_.dims().data_parallel_size() + mesh_.data().rank()) * sequence_.batch;
  return mock_batch({trial_.training.seed, sample, of_micro_batch(micro_batch), model_->vocab_size()}, mesh_.device());
}

protocol::ModelRecord BuiltModel::record() const {
  protocol::ModelRecord record;
  for (const auto& parameter : store_.all()) {
    const bool is_expert = parameter.declaration.kind == nn::ParameterKind::kExpert;
    record.num_parameters_local += parameter.num_elements();
    const auto num_parts = parameter.declaration.split ? parameter.declaration.split->count : 1;
    record.num_parameters_total += parameter.num_elements() * num_parts * (is_expert ? mesh_.expert().size() : 1);
  }
  record.flops_per_step = models::family_named(trial_.model.family).flops_per_step(trial_.model.fields, trial_.training);
  record.sites = policy_.sites();
  record.sites_available = policy_.sites_available();
  return record;
}

}  // namespace rematch::train

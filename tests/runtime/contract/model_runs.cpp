#include "tests/runtime/contract/model_runs.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include <stdexcept>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "probes/device/charge.h"
#include "probes/device/device_memory.h"
#include "probes/host/clock.h"
#include "runtime/mesh/mesh.h"
#include "runtime/models/model.h"
#include "runtime/models/presets.h"
#include "runtime/recompute/region_times.h"
#include "runtime/train/mock_data.h"

namespace rematch::tests {

namespace {

constexpr std::int64_t kSeed = 1234;

probes::DeviceMemory& device() {
  static probes::DeviceMemory& memory = *probes::make_modelled_cpu_memory({}).release();
  return memory;
}

mesh::Mesh one_rank(at::Device device_type) {
  return {{.world_size = 1}, {.backend = "single", .rank = 0, .device = device_type, .timeout = std::chrono::seconds(10)}, {}};
}

void place(nn::ParameterStore& store, double init_method_std) {
  for (auto& parameter : store.all()) {
    parameter.tensor = at::empty(parameter.declaration.shape, at::TensorOptions(at::kCPU).dtype(parameter.declaration.dtype));
    nn::initialise(parameter, kSeed, init_method_std);
    parameter.tensor.requires_grad_();
  }
}

}  // namespace

protocol::PresetDescription preset_named(const std::string& name) {
  for (auto& preset : models::presets())
    if (preset.name == name) return preset;
  throw std::invalid_argument("no preset " + name);
}

const protocol::FamilyDescription& family_of_preset(const std::string& preset) {
  static std::map<std::string, protocol::FamilyDescription> known;
  const auto family = preset_named(preset).family;
  if (known.count(family) == 0) known[family] = models::family_named(family).describe();
  return known[family];
}

protocol::FieldMap resolved_fields(const std::string& preset, const protocol::FieldMap& overrides) {
  auto fields = preset_named(preset).fields;
  for (const auto& field : family_of_preset(preset).fields) fields.try_emplace(field.name, field.default_value);
  for (const auto& [name, value] : overrides) fields[name] = value;
  return fields;
}

protocol::RecomputeSpec selective(std::vector<std::string> labels) {
  return {.recompute_granularity = "selective", .recompute_modules = std::move(labels), .core_revision = "24bad8e6"};
}

protocol::RecomputeSpec full(const std::string& method, std::int64_t num_layers) {
  return {.recompute_granularity = "full", .recompute_method = method, .recompute_num_layers = num_layers, .core_revision = "24bad8e6"};
}

std::int64_t num_parameters(const std::string& preset, const protocol::FieldMap& overrides) {
  recompute::Policy policy(recompute::resolve(selective({})), at::kMeta);
  const auto mesh = one_rank(at::kMeta);
  nn::ParameterStore store;
  const auto& family = models::family_named(preset_named(preset).family);
  const auto model = family.build(resolved_fields(preset, overrides), {.modules = {mesh, store, policy}});
  std::int64_t count = 0;
  for (const auto& parameter : store.all()) count += parameter.num_elements();
  return count;
}

struct TrainedModel::Built {
  Built(const ModelCase& model_case, const protocol::RecomputeSpec& recompute);
  void run_micro_batch(std::int64_t index, ModelRun& run);

  ModelCase asked;
  recompute::Policy policy;
  mesh::Mesh mesh;
  nn::ParameterStore store;
  std::unique_ptr<models::Model> model;
  std::map<std::string, std::int64_t> allocated_at_gradient;
};

TrainedModel::Built::Built(const ModelCase& model_case, const protocol::RecomputeSpec& recompute)
    : asked(model_case), policy(recompute::resolve(recompute), at::kCPU), mesh(one_rank(at::kCPU)) {
  random::seed_streams(policy.random(), {.seed = kSeed});
  const auto& family = models::family_named(preset_named(asked.preset).family);
  model = family.build(resolved_fields(asked.preset, asked.overrides), {.modules = {mesh, store, policy},
                                                                        .attention_backend = asked.backend,
                                                                        .loss_scale = 1.0 / static_cast<double>(asked.num_microbatches)});
  place(store, model->init_method_std());
  for (auto& parameter : store.all())
    parameter.tensor.register_hook(
        [&at = allocated_at_gradient[parameter.declaration.name]](const at::Tensor&) { at = device().snapshot().allocated_bytes; });
}

void TrainedModel::Built::run_micro_batch(std::int64_t index, ModelRun& run) {
  auto& memory = device();
  const nn::SequenceShape sequence{.length = asked.length, .batch = asked.batch, .micro_batch = index};
  const auto batch = train::mock_batch({kSeed, index * asked.batch, sequence, model->vocab_size()}, at::kCPU);
  const auto before = memory.snapshot().allocated_bytes;
  const auto start_wall_ns = probes::mono_ns(), start_cpu_ns = recompute::thread_cpu_ns();
  const auto loss = model->forward({batch.ids_T, batch.labels_T, sequence});
  run.held_bytes = memory.snapshot().allocated_bytes - before;
  memory.reset_peaks();
  torch::autograd::backward({loss}, {});
  run.step_cpu_ns += recompute::thread_cpu_ns() - start_cpu_ns;
  run.step_wall_ns += probes::mono_ns() - start_wall_ns;
  run.backward_peak_bytes = memory.snapshot().peak_allocated_bytes - before;
  for (const auto& [name, allocated] : allocated_at_gradient) run.allocated_at_gradient[name] = allocated - before;
  run.losses.push_back(loss.detach());
}

TrainedModel::TrainedModel(const ModelCase& model, const protocol::RecomputeSpec& recompute) {
  at::set_num_threads(1);
  device();  // before the first tensor
  const probes::DeviceScope charged;
  built_ = std::make_unique<Built>(model, recompute);
}
TrainedModel::~TrainedModel() = default;

ModelRun TrainedModel::step() {
  const probes::DeviceScope charged;
  auto& built = *built_;
  built.policy.reset_replays();
  ModelRun run;
  for (std::int64_t i = 0; i < built.asked.num_microbatches; ++i) built.run_micro_batch(i, run);
  built.model->finish_step();
  for (const auto& [name, loss] : built.model->take_aux_losses())
    if (loss.num_layers > 0) run.aux_losses[name] = loss.sum / static_cast<double>(loss.num_layers);
  run.sites = built.policy.sites();
  run.replays = built.policy.replays();
  for (const auto& parameter : built.store.all()) run.grads[parameter.declaration.name] = parameter.tensor.grad();
  return run;
}

ModelRun run_model(const ModelCase& model, const protocol::RecomputeSpec& recompute) { return TrainedModel(model, recompute).step(); }

}  // namespace rematch::tests

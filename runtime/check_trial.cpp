#include "runtime/check_trial.h"

#include <algorithm>
#include <string>
#include <utility>

#include "probes/device/device_memory.h"
#include "probes/host/build_id.h"
#include "runtime/base/errors.h"
#include "runtime/base/log.h"
#include "runtime/models/model.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/optimizer_problems.h"
#include "schemas/protocol/pipeline_layers.h"

namespace rematch::runtime {

namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw base::BadTrial(message);
}

void check_features(const protocol::FeatureSpec& features) {
  require(!features.fp8 && features.cuda_graph_impl == "none" && !features.cpu_offloading,
          "features: this trainer has none of fp8, cuda_graph_impl, cpu_offloading; switch them off");
}

// Throws DocumentError where the expert load does not fit the experts.
void check_prediction(const protocol::Trial& trial) {
  if (!trial.prediction) return;
  const auto& load = trial.prediction->expert_load;
  const auto num_experts = trial.model.fields.find("num_moe_experts");
  if (num_experts != trial.model.fields.end() && std::get<std::int64_t>(num_experts->second) > 0)
    protocol::expert_shares(load, std::get<std::int64_t>(num_experts->second), trial.parallel.expert_model_parallel_size);
  else
    require(load.kind == "balanced", "prediction.expert_load: wanted balanced in a model without experts, found " + load.kind);
}

bool has_shared_experts(const protocol::ModelSpec& model) {
  const auto width = model.fields.find("moe_shared_expert_intermediate_size");
  return width != model.fields.end() && std::get<std::int64_t>(width->second) > 0;
}

void check_shared_expert_overlap(const protocol::Trial& trial) {
  if (!trial.features.moe_shared_expert_overlap) return;
  require(
      has_shared_experts(trial.model),
      "features.moe_shared_expert_overlap: wanted false in a model without shared experts (moe_shared_expert_intermediate_size 0 or none), "
      "found true");
  const auto& labels = trial.recompute.recompute_modules;
  const bool selects = trial.recompute.recompute_granularity == "selective" && labels &&
                       std::find(labels->begin(), labels->end(), "shared_experts") != labels->end();
  require(!selects,
          "recompute.recompute_modules: wanted no shared_experts with moe_shared_expert_overlap, found it; overlapped shared experts run "
          "outside "
          "the checkpointed call (Megatron's rule L6)");
}

void check_optimizer(const protocol::OptimizerSpec& optimizer) {
  for (const auto& [option, message] : protocol::optimizer_problems(optimizer))
    throw base::BadTrial("optimizer." + option + ": " + message);
  for (const auto& [option, found] :
       {std::pair("exp_avg_dtype", optimizer.exp_avg_dtype), std::pair("exp_avg_sq_dtype", optimizer.exp_avg_sq_dtype)})
    require(found == "fp32" || found == "bf16",
            std::string("optimizer.") + option + ": this trainer has moments in fp32 and bf16, found '" + found + "'; write one of these");
}

// With one tensor-parallel rank there is nothing to distribute, with sequence parallelism the saved input is its own rows already.
void check_distribution(const protocol::Trial& trial) {
  require(!trial.recompute.distribute_saved_activations || !trial.parallel.sequence_parallel,
          "recompute.distribute_saved_activations: wanted false with sequence_parallel, found true");
  require(!trial.recompute.distribute_saved_activations || trial.parallel.tensor_model_parallel_size > 1,
          "recompute.distribute_saved_activations: wanted false with tensor_model_parallel_size 1, found true");
}

void check_pipeline(const protocol::Trial& trial) {
  if (trial.parallel.pipeline_model_parallel_size == 1) return;
  for (const auto& problem : protocol::pipeline_problems(models::num_layers(trial.model), trial.parallel))
    throw base::BadTrial("parallel: " + problem);
}

void check_context_parallelism(const protocol::Trial& trial) {
  const auto size = trial.parallel.context_parallel_size;
  require(size == 1 || trial.backend.attention == "fused", "backend.attention: wanted fused with context_parallel_size " +
                                                               std::to_string(size) + ", found " + trial.backend.attention +
                                                               "; unfused attention has no context parallelism");
}

bool has_experts(const protocol::ModelSpec& model) {
  const auto& families = models::families();
  return std::any_of(families.begin(), families.end(), [&](const auto* family) {
    const protocol::FamilyDescription described = family->describe();
    return described.name == model.family && protocol::count_sites(described, model.fields, "moe") > 0;
  });
}

// Megatron's rule M5: the routed rows of a rank must be its own.
void check_experts(const protocol::Trial& trial) {
  const auto& parallel = trial.parallel;
  require(parallel.tensor_model_parallel_size == 1 || parallel.sequence_parallel || !has_experts(trial.model),
          "parallel.sequence_parallel: a mixture of experts wants true with tensor_model_parallel_size > 1 (" +
              std::to_string(parallel.tensor_model_parallel_size) + "), found false");
}

}  // namespace

void check_trial(const protocol::Trial& trial, const RankEnvironment& environment) {
  require(trial.parallel.world_size == environment.world_size, "parallel.world_size is " + std::to_string(trial.parallel.world_size) +
                                                                   ", but WORLD_SIZE is " + std::to_string(environment.world_size) +
                                                                   ": start as many ranks as the trial wants");
  require(environment.rank >= 0 && environment.rank < environment.world_size,
          "RANK: wanted 0 to " + std::to_string(environment.world_size - 1) + ", found " + std::to_string(environment.rank));
  check_features(trial.features);
  check_shared_expert_overlap(trial);
  check_prediction(trial);
  require(trial.backend.device != "cuda" || probes::built_with_cuda(),
          "backend.device: cuda wants a trainer built with WITH_CUDA=ON (preset cuda); this one was built without");
  check_context_parallelism(trial);
  check_experts(trial);
  check_pipeline(trial);
  require(trial.training.bf16, "training.bf16: this trainer has bf16 parameters only");
  check_optimizer(trial.optimizer);
  check_distribution(trial);
  require(
      trial.trainer_build_id.empty() || trial.trainer_build_id == probes::build_id(),
      "trainer_build_id: the trial wants build " + trial.trainer_build_id + ", this is " + probes::build_id() + "; plan the sweep again");
}

namespace {

bool has_unit(const std::string& label) {
  for (const auto* family : models::families())
    for (const auto& row : family->describe().labels)
      if (row.label == label && !row.per_layer.empty()) return true;
  return false;
}

}  // namespace

void check_labels(const protocol::RecomputeSpec& resolved) {
  if (!resolved.recompute_granularity || !resolved.recompute_modules) return;
  if (*resolved.recompute_granularity == "full") {
    if (!resolved.recompute_modules->empty() && resolved.recompute_modules != std::vector<std::string>{"core_attn"})
      base::log_line("recompute_modules has no effect under full recompute");
    return;
  }
  for (const auto& label : *resolved.recompute_modules)
    require(has_unit(label), "recompute.recompute_modules: Megatron Core " + resolved.core_revision + " knows '" + label +
                                 "', but no model family of this trainer has such a unit; leave it out");
}

}  // namespace rematch::runtime

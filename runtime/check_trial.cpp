#include "runtime/check_trial.h"

#include <string>
#include <utility>

#include "probes/device/device_memory.h"
#include "probes/host/build_id.h"
#include "runtime/base/errors.h"
#include "runtime/base/log.h"
#include "runtime/models/model.h"
#include "schemas/protocol/optimizer_problems.h"
#include "schemas/protocol/parallel_dims.h"

namespace rematch::runtime {

namespace {

void require(bool holds, const std::string& message) {
  if (!holds) throw base::BadTrial(message);
}

void check_features(const protocol::FeatureSpec& features) {
  require(!features.fp8 && features.cuda_graph_impl == "none" && !features.moe_shared_expert_overlap && !features.cpu_offloading,
          "features: this trainer has none of fp8, cuda_graph_impl, moe_shared_expert_overlap, cpu_offloading; switch them off");
}

void check_optimizer(const protocol::OptimizerSpec& optimizer) {
  for (const auto& [option, message] : protocol::optimizer_problems(optimizer))
    throw base::BadTrial("optimizer." + option + ": " + message);
  for (const auto& [option, found] :
       {std::pair("exp_avg_dtype", optimizer.exp_avg_dtype), std::pair("exp_avg_sq_dtype", optimizer.exp_avg_sq_dtype)})
    require(found == "fp32" || found == "bf16",
            std::string("optimizer.") + option + ": this trainer has moments in fp32 and bf16, found '" + found + "'; write one of these");
}

// With one tensor-parallel rank there is nothing to distribute.
void check_distribution(const protocol::Trial& trial) {
  require(!trial.recompute.distribute_saved_activations || trial.parallel.tensor_model_parallel_size > 1,
          "recompute.distribute_saved_activations: wanted false with tensor_model_parallel_size 1, found true");
}

}  // namespace

void check_trial(const protocol::Trial& trial, const RankEnvironment& environment) {
  require(trial.parallel.world_size == environment.world_size, "parallel.world_size is " + std::to_string(trial.parallel.world_size) +
                                                                   ", but WORLD_SIZE is " + std::to_string(environment.world_size) +
                                                                   ": start as many ranks as the trial wants");
  require(environment.rank >= 0 && environment.rank < environment.world_size,
          "RANK: wanted 0 to " + std::to_string(environment.world_size - 1) + ", found " + std::to_string(environment.rank));
  check_features(trial.features);
  const auto problems = protocol::parallel_problems(trial.parallel);
  require(problems.empty(), problems.empty() ? "" : "parallel: " + problems.front());
  require(trial.backend.device != "cuda" || probes::built_with_cuda(),
          "backend.device: cuda wants a trainer built with WITH_CUDA=ON (preset cuda); this one was built without");
  const protocol::ParallelDims dims(trial.parallel);
  require(trial.parallel.tensor_model_parallel_size == 1 && trial.parallel.pipeline_model_parallel_size == 1 &&
              trial.parallel.context_parallel_size == 1,
          "parallel: this trainer has data and expert parallelism; tensor, pipeline and context sizes must be 1");
  require(trial.training.global_batch_size % (trial.training.micro_batch_size * dims.data_parallel_size()) == 0,
          "training.global_batch_size must be a multiple of micro_batch_size * data parallel size (" +
              std::to_string(trial.training.micro_batch_size * dims.data_parallel_size()) + "), found " +
              std::to_string(trial.training.global_batch_size));
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

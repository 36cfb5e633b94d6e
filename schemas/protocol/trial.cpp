#include "schemas/protocol/trial.h"

#include <nlohmann/json.hpp>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/find_field.h"
#include "schemas/protocol/json_fields.h"
#include "schemas/protocol/recompute_fields.h"
#include "schemas/protocol/training_problems.h"

namespace rematch::protocol {

using nlohmann::json;

template <typename Visitor, Is<ModelSpec> Spec>
void visit_fields(Visitor& field, Spec& model) {
  field("family", model.family, not_empty());
  field("preset", model.preset);
  field("overridden", model.overridden);
  field("fields", model.fields);
}

template <typename Visitor, Is<TrainingSpec> Spec>
void visit_fields(Visitor& field, Spec& training) {
  field("seq_length", training.seq_length, at_least(1));
  field("micro_batch_size", training.micro_batch_size, at_least(1));
  field("global_batch_size", training.global_batch_size, at_least(1));
  field("train_iters", training.train_iters, at_least(1));
  field("seed", training.seed, at_least(0));
  field("bf16", training.bf16);
}

template <typename Visitor, Is<OptimizerSpec> Spec>
void visit_fields(Visitor& field, Spec& optimizer) {
  field("use_distributed_optimizer", optimizer.use_distributed_optimizer);
  field("grad_reduce_in_fp32", optimizer.grad_reduce_in_fp32);
  field("use_precision_aware_optimizer", optimizer.use_precision_aware_optimizer);
  field("exp_avg_dtype", optimizer.exp_avg_dtype, one_of({"fp32", "bf16", "fp16", "fp8"}));
  field("exp_avg_sq_dtype", optimizer.exp_avg_sq_dtype, one_of({"fp32", "bf16", "fp16", "fp8"}));
  field("store_param_remainders", optimizer.store_param_remainders);
  field("fp8_recipe", optimizer.fp8_recipe, one_of({"delayed", "tensorwise", "mxfp8", "blockwise", "custom"}));
  field("gradient_accumulation_fusion", optimizer.gradient_accumulation_fusion);
  field("lr", optimizer.lr, at_least(0));
  field("adam_beta1", optimizer.adam_beta1, at_least(0));
  field("adam_beta2", optimizer.adam_beta2, at_least(0));
  field("adam_eps", optimizer.adam_eps, at_least(0));
  field("weight_decay", optimizer.weight_decay, at_least(0));
  field("clip_grad", optimizer.clip_grad, at_least(0));
}

template <typename Visitor, Is<ParallelSpec> Spec>
void visit_fields(Visitor& field, Spec& sizes) {
  field("world_size", sizes.world_size);
  field("tensor_model_parallel_size", sizes.tensor_model_parallel_size);
  field("pipeline_model_parallel_size", sizes.pipeline_model_parallel_size);
  field("context_parallel_size", sizes.context_parallel_size);
  field("expert_model_parallel_size", sizes.expert_model_parallel_size);
  field("expert_tensor_parallel_size", sizes.expert_tensor_parallel_size);
  field("virtual_pipeline_model_parallel_size", sizes.virtual_pipeline_model_parallel_size);
  field("sequence_parallel", sizes.sequence_parallel);
  field("cp_comm_type", sizes.cp_comm_type);
  field("num_layers_in_first_pipeline_stage", sizes.num_layers_in_first_pipeline_stage);
  field("num_layers_in_last_pipeline_stage", sizes.num_layers_in_last_pipeline_stage);
  field("account_for_embedding_in_pipeline_split", sizes.account_for_embedding_in_pipeline_split);
  field("account_for_loss_in_pipeline_split", sizes.account_for_loss_in_pipeline_split);
}

template <typename Visitor, Is<BackendSpec> Spec>
void visit_fields(Visitor& field, Spec& backend) {
  field("device", backend.device, one_of({"cpu", "cuda", "meta"}));
  field("attention", backend.attention, one_of({"fused", "unfused"}));
  field("memory_limit_bytes", backend.memory_limit_bytes, at_least(1));
  field("expandable_segments", backend.expandable_segments);
}

template <typename Visitor, Is<FeatureSpec> Spec>
void visit_fields(Visitor& field, Spec& features) {
  field("fp8", features.fp8);
  field("cuda_graph_impl", features.cuda_graph_impl);
  field("moe_shared_expert_overlap", features.moe_shared_expert_overlap);
  field("cpu_offloading", features.cpu_offloading);
  field("cross_entropy_gradient", features.cross_entropy_gradient, one_of({"fp32", "in_place"}));
}

template <typename Visitor, Is<MeasureSpec> Spec>
void visit_fields(Visitor& field, Spec& measure) {
  field("steady_steps", measure.steady_steps, at_least(1));
  field("warmup_steps", measure.warmup_steps, at_least(0));
}

template <typename Visitor, Is<ExpertLoad> Load>
void visit_fields(Visitor& field, Load& load) {
  field("kind", load.kind, one_of({"balanced", "forced", "imbalance", "histogram"}));
  field("imbalance", load.imbalance, at_least(1));
  field("histogram", load.histogram);
}

template <typename Visitor, Is<PredictionSpec> Spec>
void visit_fields(Visitor& field, Spec& prediction) {
  field("device", prediction.device, not_empty());
  field("device_memory_bytes", prediction.device_memory_bytes, at_least(1));
  field("outside_allocator_bytes", prediction.outside_allocator_bytes, at_least(0));
  field("workspace_bytes", prediction.workspace_bytes, at_least(0));
  field("graph_pool_bytes", prediction.graph_pool_bytes, at_least(0));
  field("expert_load", prediction.expert_load);
  field("origins", prediction.origins);
}

// The part that all members of a group share.
template <typename Visitor, typename Spec>
void visit_group_fields(Visitor& field, Spec& trial) {
  field.constant("schema", kTrialSchema);
  field("model", trial.model);
  field("training", trial.training);
  field("optimizer", trial.optimizer);
  field("parallel", trial.parallel);
  field("backend", trial.backend);
  field("features", trial.features);
  field("measure", trial.measure);
  field("prediction", trial.prediction);
  field("omp_num_threads", trial.omp_num_threads, at_least(1));
}

template <typename Visitor, Is<Trial> Spec>
void visit_fields(Visitor& field, Spec& trial) {
  visit_group_fields(field, trial);
  field("trial_id", trial.trial_id, hex_digits(16));
  field("group_id", trial.group_id, hex_digits(16));
  field("study", trial.study, not_empty());
  field("arm", trial.arm, not_empty());
  field("is_control", trial.is_control);
  field("block", trial.block, at_least(0));
  field("slot", trial.slot, at_least(0));
  field("trainer_build_id", trial.trainer_build_id);
  field("timeout_ms", trial.timeout_ms, at_least(1));
  field("collective_timeout_ms", trial.collective_timeout_ms, at_least(1));
  field("recompute", trial.recompute);
}

namespace {

void check_layout(const Trial& trial) {
  std::string problems;
  for (const std::string& problem : parallel_problems(trial.parallel)) problems += (problems.empty() ? "" : "; ") + problem;
  if (!problems.empty()) throw DocumentError("trial.parallel: " + problems);
}

void check_training(const Trial& trial) {
  std::string problems;
  for (const TrainingProblem& problem : training_problems(trial.training, trial.parallel))
    problems += (problems.empty() ? "" : "; ") + std::string("trial.training.") + problem.option + ": " + problem.message;
  if (!problems.empty()) throw DocumentError(problems);
}

void check_deadlines(const Trial& trial) {
  if (trial.collective_timeout_ms < trial.timeout_ms) return;
  throw DocumentError("trial.collective_timeout_ms: wanted less than timeout_ms (" + std::to_string(trial.timeout_ms) + "), found " +
                      std::to_string(trial.collective_timeout_ms));
}

// Only the model's own field forces the same rows on every expert.
void check_forced_load(const Trial& trial) {
  if (trial.prediction->expert_load.kind != "forced") return;
  const bool* forces = find_field<bool>(trial.model.fields, "moe_router_force_load_balancing");
  if (!forces || !*forces)
    throw DocumentError("trial.prediction.expert_load.kind: forced wants model field moe_router_force_load_balancing true, found " +
                        std::string(forces ? "false" : "none"));
}

void check_prediction(const Trial& trial) {
  if (!trial.prediction) return;
  if (trial.backend.device != "meta")
    throw DocumentError("trial.prediction: wanted null with backend.device " + trial.backend.device +
                        ", found assumptions; only meta predicts");
  check_forced_load(trial);
  rank_classes(trial);  // refuses a load that does not fit the experts
}

}  // namespace

Trial parse_trial(const json& document) {
  Trial trial = read_document<Trial>(document, "trial", UnknownKeys::kRefuse);
  check_layout(trial);
  check_training(trial);
  check_deadlines(trial);
  check_prediction(trial);
  return trial;
}

Trial read_trial(const std::string& path) {
  Trial trial;
  with_json_file(path, [&trial](const json& document) { trial = parse_trial(document); });
  return trial;
}

json to_json(const Trial& trial) { return json_document(trial); }

json to_json(const RecomputeSpec& recompute) { return json_document(recompute); }

RecomputeSpec parse_recompute(const json& document, const std::string& path) {
  return read_document<RecomputeSpec>(document, path, UnknownKeys::kRefuse);
}

json group_document(const Trial& trial) {
  json document;
  FieldWriter writer(Slot{document});
  Trial shared = trial;
  if (shared.prediction) shared.prediction->origins.clear();  // where an assumption was written changes nothing
  visit_group_fields(writer, shared);
  writer("core_revision", trial.recompute.core_revision);
  return document;
}

}  // namespace rematch::protocol

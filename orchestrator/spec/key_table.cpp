#include "orchestrator/base/device_table.h"
#include "orchestrator/spec/keys.h"

namespace rematch::spec {

namespace {

constexpr auto kRequired = Need::kRequired;
constexpr auto kOptional = Need::kOptional;
constexpr Range kAtLeastOne{1};
constexpr Range kBelowOne{0, 0.999999};
constexpr Range kSeed{0, 9007199254740991.0};  // what JSON readers keep exactly
constexpr Range kTimeout{1'000, 30.0 * 24 * 3'600'000};
constexpr Range kBytes{1, 1e15};

void follow_tensor_parallel_size(SweepSpec& spec) {
  spec.common.parallel.expert_tensor_parallel_size = spec.common.parallel.tensor_model_parallel_size;
}
void take_half_of_timeout(SweepSpec& spec) { spec.common.collective_timeout_ms = spec.common.timeout_ms / 2; }

#define SLOT(member) [](SweepSpec& spec) -> Slot { return &spec.member; }

std::vector<KeyRow> rows_of_all_launches() {
  return {
      {"schema", Kind::kText, kRequired, SLOT(schema), {}, {kSweepSchema}},
      {"name", Kind::kText, kRequired, SLOT(common.study)},
      {"training.seq_length", Kind::kInteger, kRequired, SLOT(common.training.seq_length), kAtLeastOne},
      {"training.micro_batch_size", Kind::kInteger, kRequired, SLOT(common.training.micro_batch_size), kAtLeastOne},
      {"training.global_batch_size", Kind::kInteger, kRequired, SLOT(common.training.global_batch_size), kAtLeastOne},
      {"training.train_iters", Kind::kInteger, kRequired, SLOT(common.training.train_iters), kAtLeastOne},
      {"training.seed", Kind::kInteger, kOptional, SLOT(common.training.seed), kSeed},
      {"training.bf16", Kind::kBoolean, kOptional, SLOT(common.training.bf16)},
      {"optimizer.use_distributed_optimizer", Kind::kBoolean, kOptional, SLOT(common.optimizer.use_distributed_optimizer)},
      {"optimizer.grad_reduce_in_fp32", Kind::kBoolean, kOptional, SLOT(common.optimizer.grad_reduce_in_fp32)},
      {"optimizer.use_precision_aware_optimizer", Kind::kBoolean, kOptional, SLOT(common.optimizer.use_precision_aware_optimizer)},
      {"optimizer.exp_avg_dtype", Kind::kText, kOptional, SLOT(common.optimizer.exp_avg_dtype), {}, {"fp32", "bf16"}, {"fp16", "fp8"}},
      {"optimizer.exp_avg_sq_dtype",
       Kind::kText,
       kOptional,
       SLOT(common.optimizer.exp_avg_sq_dtype),
       {},
       {"fp32", "bf16"},
       {"fp16", "fp8"}},
      {"optimizer.store_param_remainders", Kind::kBoolean, kOptional, SLOT(common.optimizer.store_param_remainders)},
      {"optimizer.fp8_recipe",
       Kind::kText,
       kOptional,
       SLOT(common.optimizer.fp8_recipe),
       {},
       {"delayed", "tensorwise", "mxfp8", "blockwise", "custom"}},
      {"optimizer.gradient_accumulation_fusion", Kind::kBoolean, kOptional, SLOT(common.optimizer.gradient_accumulation_fusion)},
      {"optimizer.lr", Kind::kNumber, kOptional, SLOT(common.optimizer.lr)},
      {"optimizer.adam_beta1", Kind::kNumber, kOptional, SLOT(common.optimizer.adam_beta1), kBelowOne},
      {"optimizer.adam_beta2", Kind::kNumber, kOptional, SLOT(common.optimizer.adam_beta2), kBelowOne},
      {"optimizer.adam_eps", Kind::kNumber, kOptional, SLOT(common.optimizer.adam_eps)},
      {"optimizer.weight_decay", Kind::kNumber, kOptional, SLOT(common.optimizer.weight_decay)},
      {"optimizer.clip_grad", Kind::kNumber, kOptional, SLOT(common.optimizer.clip_grad)},
      {"parallel.world_size", Kind::kInteger, kRequired, SLOT(common.parallel.world_size), kAtLeastOne},
      {"parallel.tensor_model_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.tensor_model_parallel_size), kAtLeastOne},
      {"parallel.pipeline_model_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.pipeline_model_parallel_size), kAtLeastOne},
      {"parallel.context_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.context_parallel_size), kAtLeastOne},
      {"parallel.expert_model_parallel_size", Kind::kInteger, kOptional, SLOT(common.parallel.expert_model_parallel_size), kAtLeastOne},
      {"parallel.expert_tensor_parallel_size",
       Kind::kInteger,
       kOptional,
       SLOT(common.parallel.expert_tensor_parallel_size),
       kAtLeastOne,
       {},
       {},
       {},
       {follow_tensor_parallel_size, "tensor_model_parallel_size"}},
      {"parallel.virtual_pipeline_model_parallel_size", Kind::kInteger, kOptional,
       SLOT(common.parallel.virtual_pipeline_model_parallel_size), kAtLeastOne},
      {"parallel.sequence_parallel", Kind::kBoolean, kOptional, SLOT(common.parallel.sequence_parallel)},
      {"parallel.cp_comm_type", Kind::kText, kOptional, SLOT(common.parallel.cp_comm_type), {}, {"p2p", "all_gather"}, {"a2a", "a2a+p2p"}},
      {"parallel.num_layers_in_first_pipeline_stage", Kind::kInteger, kOptional, SLOT(common.parallel.num_layers_in_first_pipeline_stage),
       kAtLeastOne},
      {"parallel.num_layers_in_last_pipeline_stage", Kind::kInteger, kOptional, SLOT(common.parallel.num_layers_in_last_pipeline_stage),
       kAtLeastOne},
      {"parallel.account_for_embedding_in_pipeline_split", Kind::kBoolean, kOptional,
       SLOT(common.parallel.account_for_embedding_in_pipeline_split)},
      {"parallel.account_for_loss_in_pipeline_split", Kind::kBoolean, kOptional, SLOT(common.parallel.account_for_loss_in_pipeline_split)},
      {"backend.device", Kind::kText, kOptional, SLOT(common.backend.device)},
      {"backend.attention", Kind::kText, kOptional, SLOT(common.backend.attention)},
      {"backend.memory_limit", Kind::kSize, kOptional, SLOT(common.backend.memory_limit_bytes), kBytes},
      {"backend.expandable_segments", Kind::kBoolean, kOptional, SLOT(common.backend.expandable_segments)},
      {"features.fp8", Kind::kText, kOptional, SLOT(common.features.fp8), {}, {"e4m3", "hybrid"}},
      {"features.cuda_graph_impl",
       Kind::kText,
       kOptional,
       SLOT(common.features.cuda_graph_impl),
       {},
       {"none", "local", "transformer_engine", "full_iteration"}},
      {"features.moe_shared_expert_overlap", Kind::kBoolean, kOptional, SLOT(common.features.moe_shared_expert_overlap)},
      {"features.cpu_offloading", Kind::kBoolean, kOptional, SLOT(common.features.cpu_offloading)},
      {"features.cross_entropy_gradient", Kind::kText, kOptional, SLOT(common.features.cross_entropy_gradient), {}, {"fp32", "in_place"}},
      {"measure.blocks",
       Kind::kInteger,
       kOptional,
       SLOT(num_blocks),
       {1, 1000},
       {},
       {},
       "auto",
       {},
       [](SweepSpec& spec) { return &spec.blocks_auto; }},
      {"measure.steady_steps", Kind::kInteger, kOptional, SLOT(common.measure.steady_steps), kAtLeastOne},
      {"measure.warmup", Kind::kInteger, kOptional, SLOT(common.measure.warmup_steps), kAtLeastOne, {}, {}, "auto"},
      {"measure.smallest_effect", Kind::kPercent, kOptional, SLOT(smallest_effect), {0.0001, 1}},
      {"measure.order_seed", Kind::kInteger, kOptional, SLOT(order_seed), kSeed},
      {"strategy.kind", Kind::kText, kOptional, SLOT(strategy_kind), {}, {"one_label", "pairs", "escalate"}},
      {"budget.per_rank_memory", Kind::kSize, kOptional, SLOT(budget_per_rank_bytes), kBytes},
      {"simulate.device", Kind::kText, kOptional, SLOT(simulate.device), {}, base::device_names()},
      {"simulate.device_memory", Kind::kSize, kOptional, SLOT(simulate.device_memory_bytes), kBytes},
      {"simulate.outside_allocator", Kind::kSize, kOptional, SLOT(simulate.outside_allocator_bytes), {0, 1e15}},
      {"simulate.workspace", Kind::kSize, kOptional, SLOT(simulate.workspace_bytes), {0, 1e15}},
      {"simulate.graph_pool", Kind::kSize, kOptional, SLOT(simulate.graph_pool_bytes), {0, 1e15}},
      {"simulate.expert_load", Kind::kText, kOptional, SLOT(simulate.expert_load), {}, {"balanced", "forced", "imbalance", "histogram"}},
      {"simulate.expert_imbalance", Kind::kNumber, kOptional, SLOT(simulate.expert_imbalance), {1, 1e5}},
      {"simulate.expert_histogram", Kind::kText, kOptional, SLOT(simulate.expert_histogram)},
      {"simulate.note", Kind::kText, kOptional, SLOT(simulate.note)},
      {"simulate.train_iters", Kind::kInteger, kOptional, SLOT(simulate.train_iters), {2, 1000}},
      {"launch.kind", Kind::kText, kOptional, SLOT(launch_kind), {}, {"local", "slurm"}},
      {"launch.timeout", Kind::kDuration, kOptional, SLOT(common.timeout_ms), kTimeout},
      {"launch.collective_timeout",
       Kind::kDuration,
       kOptional,
       SLOT(common.collective_timeout_ms),
       kTimeout,
       {},
       {},
       {},
       {take_half_of_timeout, "half of timeout"}},
      {"launch.ranks_per_node", Kind::kInteger, kOptional, SLOT(ranks_per_node), kAtLeastOne},
      {"launch.omp_num_threads", Kind::kInteger, kOptional, SLOT(common.omp_num_threads), {1, 4096}},
  };
}

#undef SLOT

std::vector<KeyRow> table() {
  std::vector<KeyRow> rows = rows_of_all_launches();
  const std::vector<KeyRow> of_slurm = slurm_key_rows();
  rows.insert(rows.end(), of_slurm.begin(), of_slurm.end());
  return rows;
}

}  // namespace

std::span<const KeyRow> key_rows() {
  static const std::vector<KeyRow> rows = table();
  return rows;
}

}  // namespace rematch::spec

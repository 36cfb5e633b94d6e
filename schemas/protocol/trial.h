// The trial document (trial.json): everything one launch of one arm needs, fully resolved: no defaults are left to fill in.
// Written by the controller, read by every rank. Megatron's own option names wherever it has one.
// Failure: parse_trial throws DocumentError naming the JSON path, what was wanted and what was found; unknown keys are refused.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/field_value.h"
#include "schemas/protocol/parallel_dims.h"
#include "schemas/protocol/prediction.h"

namespace rematch::protocol {

inline constexpr const char* kTrialSchema = "rematch/trial/1";

struct ModelSpec {
  std::string family;                   // a family of the trainer's describe document
  std::optional<std::string> preset;    // where the fields came from
  std::vector<std::string> overridden;  // preset fields that the sweep changed, sorted
  FieldMap fields;                      // every field of the family, resolved
};

struct TrainingSpec {
  std::int64_t seq_length = 0;         // tokens per sequence
  std::int64_t micro_batch_size = 0;   // sequences
  std::int64_t global_batch_size = 0;  // sequences; a multiple of micro_batch_size * data parallel size
  std::int64_t train_iters = 0;        // optimizer steps
  std::int64_t seed = 0;
  bool bf16 = true;
};

// Adam. The modes decide what is held in memory, and when: reports/METRICS.md, "Persistent bytes".
struct OptimizerSpec {
  bool use_distributed_optimizer = true;  // each data-parallel rank holds the optimizer state of its shard
  bool grad_reduce_in_fp32 = false;       // fp32 gradient buffers
  bool use_precision_aware_optimizer = false;
  std::string exp_avg_dtype = "fp32";  // of the moments: fp32 | bf16 | fp16 | fp8
  std::string exp_avg_sq_dtype = "fp32";
  bool store_param_remainders = true;         // of a precision-aware optimizer: main weights are the bf16 parameter and 16 bits beside it
  std::optional<std::string> fp8_recipe;      // set and not "delayed": a precision-aware optimizer keeps Megatron Core's fp32 main weights
  bool gradient_accumulation_fusion = false;  // a linear layer adds its weight gradient to the buffer itself
  double lr = 0;
  double adam_beta1 = 0.9;
  double adam_beta2 = 0.95;
  double adam_eps = 1e-8;
  double weight_decay = 0;
  double clip_grad = 1.0;  // gradient norm limit; 0 switches clipping off
};

struct BackendSpec {
  std::string device;                              // cpu | cuda | meta
  std::string attention;                           // fused | unfused
  std::optional<std::int64_t> memory_limit_bytes;  // capacity of the modelled device; null: no limit
  bool expandable_segments = false;                // of the caching allocator, PyTorch's name for it
};

// Constraints that a sweep must name first; each is what Megatron calls it.
struct FeatureSpec {
  std::optional<std::string> fp8;
  std::string cuda_graph_impl = "none";
  bool moe_shared_expert_overlap = false;
  bool cpu_offloading = false;
  // What the fused cross-entropy keeps for backward: fp32, a gradient beside the bf16 logits, or in_place, the logits' own memory.
  std::string cross_entropy_gradient = "fp32";
};

struct RecomputeSpec {
  std::optional<std::string> recompute_granularity;           // selective | full | null
  std::optional<std::vector<std::string>> recompute_modules;  // null means unset, which is not the same as []
  std::optional<std::string> recompute_method;                // uniform | block
  std::optional<std::int64_t> recompute_num_layers;
  bool distribute_saved_activations = false;  // each tensor-parallel rank keeps its slice of a checkpointed layer's input
  std::string core_revision;                  // Megatron Core revision whose labels and rules apply
};

struct MeasureSpec {
  std::int64_t steady_steps = 0;  // steps that must be completed after warm-up
  std::int64_t warmup_steps = 0;  // steps before "steady" in the stage ledger, optimizer_init's step included
};

struct Trial {
  std::string trial_id;  // 16 hex digits
  std::string group_id;  // 16 hex digits
  std::string study;     // name of the study
  std::string arm;       // "[]", "layernorm+moe_act", "full:uniform:1", ...
  bool is_control = false;
  std::int64_t block = 0;        // 0-based round
  std::int64_t slot = 0;         // 0-based position within the block
  std::string trainer_build_id;  // what the controller expects; another build refuses the trial
  std::int64_t omp_num_threads = 1;
  std::int64_t timeout_ms = 0;             // deadline of one attempt
  std::int64_t collective_timeout_ms = 0;  // of one collective: less than timeout_ms, so that a rank that does not come can be named
  ModelSpec model;
  TrainingSpec training;
  OptimizerSpec optimizer;
  ParallelSpec parallel;
  BackendSpec backend;
  FeatureSpec features;
  RecomputeSpec recompute;
  MeasureSpec measure;
  std::optional<PredictionSpec> prediction;  // of the meta device only; null: no assumptions beyond the trial
};

Trial parse_trial(const nlohmann::json& document);
Trial read_trial(const std::string& path);
nlohmann::json to_json(const Trial& trial);
nlohmann::json to_json(const RecomputeSpec& recompute);
RecomputeSpec parse_recompute(const nlohmann::json& document, const std::string& path);

// The document without recompute, arm, block, slot, ids, study name and deadlines: what members of a group share. Dump it for the group's
// hash.
nlohmann::json group_document(const Trial& trial);

}  // namespace rematch::protocol

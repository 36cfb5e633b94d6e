// Degrees of parallelism by Megatron's names -> is this layout valid, which coordinates has a rank, and which ranks form its groups.
// Pure; used by the controller at plan time and by the trainer's mesh.
//
// Ranks are numbered like digits, innermost first, in Megatron Core's default order tp-cp-ep-dp-pp: for dense layers tp, cp, dp, pp with
// dp = world / (tp cp pp); for experts etp, ep, expert-dp, pp with expert-dp = world / (etp ep pp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rematch::protocol {

// Megatron's options.
struct ParallelSpec {
  std::int64_t world_size = 1;
  std::int64_t tensor_model_parallel_size = 1;
  std::int64_t pipeline_model_parallel_size = 1;
  std::int64_t context_parallel_size = 1;
  std::int64_t expert_model_parallel_size = 1;
  std::int64_t expert_tensor_parallel_size = 1;
  std::optional<std::int64_t> virtual_pipeline_model_parallel_size;  // model chunks a pipeline rank; null: one, not interleaved
  bool sequence_parallel = false;                                    // norms and residuals in shards over the tensor-parallel ranks
  std::string cp_comm_type = "p2p";                                  // p2p (a ring) | all_gather
  // Null: the layers are shared out evenly. Otherwise of the first and last pipeline rank, all its chunks together.
  std::optional<std::int64_t> num_layers_in_first_pipeline_stage;
  std::optional<std::int64_t> num_layers_in_last_pipeline_stage;
  // Embedding and loss count as one layer each when the layers are shared out.
  bool account_for_embedding_in_pipeline_split = false;
  bool account_for_loss_in_pipeline_split = false;
};

// Every rule that these sizes break, each with the numbers and the rule; empty when valid.
std::vector<std::string> parallel_problems(const ParallelSpec& spec);

// The groups of ranks that communicate. A combined axis runs over all ranks of its parts.
enum class Axis {
  kTensor,
  kContext,
  kData,
  kPipeline,
  kDataContext,        // gradients of dense parameters
  kTensorContext,      // one sequence
  kTensorDataContext,  // a whole pipeline stage
  kExpert,
  kExpertTensor,
  kExpertData,  // gradients of experts
  kWorld,
};
// Megatron's group names: "tp", "cp", "dp", "pp", "dp_cp", "tp_cp", "tp_dp_cp", "ep", "expt_tp", "expt_dp"; and "world".
const char* axis_name(Axis axis);
std::vector<Axis> all_axes();

class ParallelDims {
 public:
  // Throws DocumentError with all of parallel_problems.
  explicit ParallelDims(const ParallelSpec& spec);

  const ParallelSpec& spec() const { return spec_; }
  std::int64_t world_size() const { return spec_.world_size; }
  std::int64_t tensor_size() const { return spec_.tensor_model_parallel_size; }
  std::int64_t context_size() const { return spec_.context_parallel_size; }
  std::int64_t pipeline_size() const { return spec_.pipeline_model_parallel_size; }
  std::int64_t num_model_chunks() const { return spec_.virtual_pipeline_model_parallel_size.value_or(1); }  // a rank
  std::int64_t data_parallel_size() const;                                                                  // world / (tp cp pp)
  std::int64_t expert_data_parallel_size() const;                                                           // world / (etp ep pp)

  // Global ranks of the group that `rank` belongs to, ascending.
  std::vector<int> group_ranks(Axis axis, int rank) const;
  // Position of `rank` in that group, from 0.
  int position(Axis axis, int rank) const;

 private:
  ParallelSpec spec_;
};

}  // namespace rematch::protocol

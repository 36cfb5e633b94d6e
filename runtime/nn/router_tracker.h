// What the router of one MoE layer remembers between micro-batches and steps: the expert bias and the counts behind it, the counts of
// kGlobalAuxLoss, what each micro-batch of the step counted, and the loss of the step for the record. Buffers are fp32 on the training
// device and live from construction on; the counts of a micro-batch lie on the host. `count` is collective, and `finish_step` under an
// expert bias. Main thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/nn/sequence.h"

namespace rematch::nn {

enum class LoadBalancing { kNone, kAuxLoss, kSeqAuxLoss, kGlobalAuxLoss };  // moe_router_load_balancing_type

struct TrackerShape {
  std::int64_t num_experts = 0;
  std::int64_t topk = 1;
  LoadBalancing load_balancing = LoadBalancing::kNone;
  std::optional<double> bias_update_rate;  // moe_router_bias_update_rate; unset: no expert bias
};

class RouterTracker {
 public:
  // The mesh outlives this.
  RouterTracker(const TrackerShape& shape, const mesh::Mesh& mesh);

  const at::Tensor& expert_bias() const { return expert_bias_E_; }  // added to the scores for the choice only; undefined without one

  // True in the first forward of a micro-batch since finish_step, whether or not it records a graph; false in its replays. Only a first
  // forward records and counts.
  bool begin(std::int64_t micro_batch);
  // Notes a micro-batch's choices for the expert bias; tokens_E fp32 on the host or device.
  void record(const at::Tensor& tokens_E);
  // The load-balancing loss of a micro-batch. sums_2GE, of this rank's rows: how many tokens of each group chose each expert, and the sums
  // of their shares. Counted are the tokens of all ranks that have rows of the same sequences; under kGlobalAuxLoss those of all ranks of
  // the pipeline stage, mean over the step's micro-batches so far. `sequence`: of this rank's rows.
  void count(SequenceShape sequence, const at::Tensor& sums_2GE);
  // [G * E] of a micro-batch that was counted: d loss / d share of a token, less the loss's coefficient, as RouterShape has the loss. Times
  // the context-parallel size: gradients are summed over tensor-parallel and averaged over context-parallel ranks. Empty on meta.
  const std::vector<double>& loss_weights(std::int64_t micro_batch) const { return loss_weights_.at(micro_batch); }

  // After the last micro-batch's backward: bias += rate sign(mean - tokens) (Megatron's get_updated_expert_bias), counts begin anew.
  void finish_step();
  // Mean loss over the step's micro-batches, less its coefficient; then none. Null when there was none.
  std::optional<double> take_loss();

 private:
  const comm::Communicator& counting_group() const;

  TrackerShape shape_;
  const mesh::Mesh& mesh_;
  at::Tensor expert_bias_E_;
  at::Tensor local_tokens_E_;   // of the step, for the bias
  at::Tensor global_tokens_E_;  // of the step, over all ranks, for kGlobalAuxLoss
  std::int64_t num_counts_ = 0;
  std::map<std::int64_t, std::vector<double>> loss_weights_;  // by micro-batch
  double loss_sum_ = 0;
  std::int64_t num_losses_ = 0;
};

}  // namespace rematch::nn

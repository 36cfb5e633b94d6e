// What the router of one MoE layer remembers between micro-batches and steps: the expert bias and the counts behind it, the counts of
// kGlobalAuxLoss, and the loss of the step for the record. Buffers are fp32 on the training device and live from construction on.
// `count` is collective under kGlobalAuxLoss, `finish_step` under an expert bias. Main thread only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "runtime/comm/communicator.h"

namespace rematch::nn {

enum class LoadBalancing { kNone, kAuxLoss, kSeqAuxLoss, kGlobalAuxLoss };  // moe_router_load_balancing_type

struct TrackerShape {
  std::int64_t num_experts = 0;
  LoadBalancing load_balancing = LoadBalancing::kNone;
  std::optional<double> bias_update_rate;  // moe_router_bias_update_rate; unset: no expert bias
};

class RouterTracker {
 public:
  // `data_group`: the ranks whose tokens are counted together.
  RouterTracker(const TrackerShape& shape, const comm::Communicator& data_group, at::Device device);

  const at::Tensor& expert_bias() const { return expert_bias_E_; }  // added to the scores for the choice only; undefined without one

  // Notes one micro-batch's choices; its tokens_E fp32 on the host or device.
  void record(const at::Tensor& tokens_E);
  // Once a micro-batch, in the forward or in a replay: the two agree as long as one micro-batch's backward ends before the next one's
  // forward. The counts for the loss, and the number of tokens behind them. kGlobalAuxLoss: of all ranks, mean over the step's
  // micro-batches so far.
  std::pair<at::Tensor, double> count(const at::Tensor& tokens_E, std::int64_t num_tokens);
  void add_loss(double loss) {
    loss_sum_ += loss;
    ++num_losses_;
  }

  // After the last micro-batch's backward: bias += rate sign(mean - tokens) (Megatron's get_updated_expert_bias), counts begin anew.
  void finish_step();
  // Mean loss over the step's micro-batches; then none. Null when there was none.
  std::optional<double> take_loss();

 private:
  TrackerShape shape_;
  const comm::Communicator& data_group_;
  at::Tensor expert_bias_E_;
  at::Tensor local_tokens_E_;   // of the step, for the bias
  at::Tensor global_tokens_E_;  // of the step, over all ranks, for kGlobalAuxLoss
  std::int64_t num_counts_ = 0;
  double loss_sum_ = 0;
  std::int64_t num_losses_ = 0;
};

}  // namespace rematch::nn

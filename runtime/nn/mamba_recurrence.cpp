// Shape suffixes: Q tokens of the chunk, B batch, G groups, R heads of one group, P columns of a head, K states.
#include "runtime/nn/mamba_recurrence.h"

#include <ATen/ATen.h>

namespace rematch::nn {

at::Tensor Mamba2Recurrence::initial_state(std::int64_t batch) const {
  const auto groups = shape_.mamba_num_groups;
  return at::zeros({batch, groups, shape_.inner_size() / groups, shape_.mamba_state_dim}, skip_N_.options());
}

// [Q, B, N * X] -> [B, G, R, Q, X], a view
at::Tensor Mamba2Recurrence::by_head(const at::Tensor& x_QBD) const {
  const auto groups = shape_.mamba_num_groups;
  return x_QBD.unflatten(2, {groups, shape_.mamba_num_heads / groups, -1}).permute({1, 2, 3, 0, 4});
}

// [Q, B, G * K] -> [B, G, Q, K]
at::Tensor Mamba2Recurrence::by_group(const at::Tensor& x_QBD) const {
  return x_QBD.unflatten(2, {shape_.mamba_num_groups, -1}).permute({1, 2, 0, 3}).contiguous();
}

at::Tensor Mamba2Recurrence::cumulative_log_decay(const ScanChunk& chunk) const {
  return cumulative_sum(by_head(chunk.inputs[4]).squeeze(-1));
}

// dt * x: [B, G, R, Q, P]
at::Tensor Mamba2Recurrence::written(const ScanChunk& chunk) const {
  return (by_head(chunk.inputs[0]) * by_head(chunk.inputs[3])).contiguous();
}

at::Tensor Mamba2Recurrence::next_state(const ScanChunk& chunk, const at::Tensor& written) const {
  const auto cumulative_BGRQ = cumulative_log_decay(chunk);
  const auto total_BGR1 = cumulative_BGRQ.slice(-1, -1);
  const auto left_BGRQP = written * (total_BGR1 - cumulative_BGRQ).exp().unsqueeze(-1);
  const auto kept_BGDK = (chunk.state.unflatten(2, {total_BGR1.size(2), -1}) * total_BGR1.exp().unsqueeze(-1)).flatten(2, 3);
  return kept_BGDK + at::matmul(left_BGRQP.transpose(3, 4).flatten(2, 3), by_group(chunk.inputs[1]));
}

at::Tensor Mamba2Recurrence::output(const ScanChunk& chunk, const at::Tensor& written) const {
  const auto cumulative_BGRQ = cumulative_log_decay(chunk);
  const auto b_BGQK = by_group(chunk.inputs[1]), c_BGQK = by_group(chunk.inputs[2]);
  const auto scores_BGRQQ = at::matmul(c_BGQK, b_BGQK.transpose(2, 3)).unsqueeze(2) * decay_between(cumulative_BGRQ);
  const auto inside_BGRQP = at::matmul(scores_BGRQQ, written);
  const auto before_BGQRP = at::matmul(c_BGQK, chunk.state.transpose(2, 3)).unflatten(3, {cumulative_BGRQ.size(2), -1});
  const auto read_BGRQP = before_BGQRP.transpose(2, 3) * cumulative_BGRQ.exp().unsqueeze(-1) + inside_BGRQP;
  return read_BGRQP.permute({3, 0, 1, 2, 4}).flatten(2) +
         (chunk.inputs[0].unflatten(2, {skip_N_.size(0), -1}) * skip_N_.unsqueeze(1)).flatten(2);
}

}  // namespace rematch::nn

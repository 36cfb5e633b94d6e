// Context parallelism of a mixer whose recurrence runs over the whole sequence: by one all-to-all each way, every rank trades its tokens'
// columns of all heads for all tokens' columns of its share of the heads (Megatron's tensor_a2a_cp2hp and tensor_a2a_hp2cp). Whole
// sequences are in causal order, a rank's own tokens in that of their chunks.
// Columns come in sections (q, k, v, ...) of so many heads each: a share has the same part of every section, so that value heads stay with
// the key heads that they use. Parameters by head stay whole on every rank; a share is cut out of them, and its gradient is zero elsewhere.
// Charged: the sent and the received copy while they live, role communication, and the result.
// Shapes: L local tokens of each of B sequences, T = L * B, C ranks, W = C * T tokens of whole sequences, D columns of all heads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/nn/sequence.h"

namespace rematch::nn {

// The group outlives it. With a group alone all three return what they are given.
class ContextHeads {
 public:
  explicit ContextHeads(const comm::Communicator& group) : group_(&group) {}

  int size() const { return group_->size(); }

  // `sections`: widths whose sum is D, each a multiple of the group's size. x_TD -> [W, D / C]. Collective, differentiable.
  at::Tensor to_heads(const at::Tensor& x_TD, const std::vector<std::int64_t>& sections, SequenceShape sequence) const;
  // Its transpose: [W, D / C] -> [T, D].
  at::Tensor to_context(const at::Tensor& x_WD, const std::vector<std::int64_t>& sections, SequenceShape sequence) const;
  // Of a parameter whose dim 0 has these sections. Differentiable.
  at::Tensor share_of(const at::Tensor& parameter, const std::vector<std::int64_t>& sections) const;

 private:
  const comm::Communicator* group_;
};

}  // namespace rematch::nn

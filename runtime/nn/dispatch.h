// Tokens to their experts and back, as Megatron Core's alltoall dispatcher: permute by expert, all-to-all over the expert-parallel group
// with uneven counts, all-gather over the expert-tensor-parallel group, sort by local expert; and back, with a reduce-scatter for the
// all-gather. Nothing but index maps is kept for backward. Shapes: T local tokens, E experts of the job, K experts a token, R rows that
// this rank's experts compute on, H hidden.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/nn/router.h"

namespace rematch::nn {

// `tensor`: the ranks that hold parts of the same experts. They compute on each other's rows, and each has a partial sum of every result.
struct ExpertGroups {
  const comm::Communicator& expert;
  const comm::Communicator& tensor;
};

// One routing decision as index maps and row counts. Made in every forward and in every replay: the counts are exchanged each time.
// On meta, where no router chose, every expert has its assumed rows, and every peer is taken to send what this rank would send itself. The
// groups outlive it.
class TokenExchange {
 public:
  // assumed_shares: for meta, as protocol::assumed_rows takes them.
  TokenExchange(const at::Tensor& experts_TK, std::int64_t num_experts, const ExpertGroups& groups,
                const std::vector<double>& assumed_shares = {});

  const std::vector<std::int64_t>& rows_per_local_expert() const { return rows_per_local_expert_; }
  std::int64_t num_received() const { return num_received_; }
  void note_saved_maps() const;  // for --saved-tensors

  // x_TH -> [R, H], sorted by local expert; and its transpose, which sums the partial results of `tensor`, then a token's K rows in order
  // of its choices, each in fp32.
  at::Tensor to_experts(const at::Tensor& x_TH) const;
  at::Tensor from_experts(const at::Tensor& y_RH) const;
  // The same for one value a (token, chosen expert): taken from [T, E], and put back there among zeros.
  at::Tensor values_to_experts(const at::Tensor& values_TE) const;
  at::Tensor values_from_experts(const at::Tensor& values_R) const;

 private:
  void fill_local_maps(const std::vector<std::int64_t>& experts, std::int64_t num_experts);
  std::vector<std::int64_t> received_counts(bool is_meta) const;
  std::vector<std::int64_t> gathered_counts(const std::vector<std::int64_t>& received_counts, bool is_meta) const;
  void count_gathered(const std::vector<std::int64_t>& gathered_counts);
  void fill_gathered_maps(const std::vector<std::int64_t>& gathered_counts) const;
  at::Tensor send(at::Tensor permuted) const;
  at::Tensor send_back(const at::Tensor& sorted) const;
  at::Tensor sorted(const at::Tensor& gathered) const;
  at::Tensor value_indices() const;

  ExpertGroups groups_;
  std::int64_t topk_;
  at::Tensor row_map_;                         // [T * K] int32: permuted row -> t * K + k
  at::Tensor inverse_map_;                     // [T * K] int32: t * K + k -> permuted row
  at::Tensor sort_map_;                        // [R] int32: sorted row -> gathered row; undefined when both groups are alone
  at::Tensor unsort_map_;                      // [R] int32: gathered row -> sorted row
  std::vector<std::int64_t> rows_per_expert_;  // of this rank's tokens, for every expert of the job
  std::vector<std::int64_t> send_rows_;
  std::vector<std::int64_t> receive_rows_;
  std::vector<std::int64_t> gathered_rows_;  // of each expert-tensor-parallel rank
  std::vector<std::int64_t> rows_per_local_expert_;
  std::int64_t num_received_ = 0;
};

struct Dispatched {
  at::Tensor tokens_RH;
  at::Tensor probs_R;
};

// Differentiable: rows and probabilities to the experts ...
Dispatched dispatch(const std::shared_ptr<const TokenExchange>& exchange, const at::Tensor& x_TH, const at::Tensor& probs_TE);
// ... and the experts' outputs back, summed per token.
at::Tensor combine(const std::shared_ptr<const TokenExchange>& exchange, const at::Tensor& y_RH);

}  // namespace rematch::nn

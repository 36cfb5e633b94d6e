// The maths of fused attention by tiles, for the inside of kernel bodies: a block of queries against a run of keys at a time, causal by
// position in the whole sequence; runs that lie behind the queries are skipped. One body for whole sequences and for a context-parallel
// rank's tokens, which may meet the keys of all ranks at once or of one rank after another: partial results are merged by their
// log-sum-exp. Tiles come in the same order forward and backward, so that dropout draws the same mask from the same generator state.
// Shapes: B sequences, N query heads, G key-value heads (a divisor of N), L local tokens, E head size of q and k, V head size of v,
// M members whose keys these are.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "runtime/nn/context_chunks.h"

namespace rematch::nn {

struct TileMaths {
  double scale = 1;
  double dropout = 0;
  ContextPlace place;  // whose queries these are
};

// Keys and values of some members of the context-parallel group, in q's type or the maths'.
struct KeyShare {
  at::Tensor k_MBGLE;
  at::Tensor v_MBGLV;
  std::vector<int> members;
  bool is_first = true;  // nothing was merged before: the query rows' results are written, not added to
};

// Of q's rows: the sums so far, in the maths' type.
struct PartialOutput {
  at::Tensor o_BNLV;    // weighted by the probabilities under lse
  at::Tensor lse_BNL1;  // log of the sum of exponentials
};

// Merges what the queries see of `keys`. The first share must have a key for every query: its first member is this rank, or has a chunk
// before all others.
void attend(const at::Tensor& q_BNLE, const KeyShare& keys, const TileMaths& maths, const PartialOutput& sums);

struct OutputGrads {
  at::Tensor do_BNLV;
  at::Tensor o_BNLV;
  at::Tensor lse_BNL1;
};
// In the maths' type; dk and dv are of the share's keys.
struct AttentionGrads {
  at::Tensor dq_BNLE;
  at::Tensor dk_MBGLE;
  at::Tensor dv_MBGLV;
};

// Multiplications and additions of the matrix products that the two of them make: q k and p v forward, these scores again and four
// gradients backward, of the tiles that are not skipped.
std::int64_t attend_flops(const at::Tensor& q_BNLE, const KeyShare& keys, ContextPlace place);
std::int64_t attend_backward_flops(const at::Tensor& q_BNLE, const KeyShare& keys, ContextPlace place);

// Adds to dk and dv, and to dq but for the first share, by which it is written.
void attend_backward(const at::Tensor& q_BNLE, const KeyShare& keys, const OutputGrads& output, const TileMaths& maths,
                     const AttentionGrads& grads);

}  // namespace rematch::nn

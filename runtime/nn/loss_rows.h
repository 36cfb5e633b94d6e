// Cross entropy of bf16 logits in fp32, a row at a time. Plain arrays; a caller spreads the rows over threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/nn/simd.h"

namespace rematch::nn {

struct LossRows {
  const simd::Bf16* logits;    // [rows, num_classes]
  const std::int64_t* labels;  // one a row
  float* losses;               // one a row
  float* dlogits;              // [rows, num_classes]: of the mean of the losses
  std::size_t num_classes;
  float weight;  // of one row in the mean
};

void cross_entropy_rows(const LossRows& tensors, std::size_t first, std::size_t last);

// The first half of it, for a rank that has some of the classes only: of each row the exponentials in `dlogits`, and what the others need
// to know. `labels` count from the first class here, and may lie outside; `losses` is not used.
struct RowStats {
  float highest;  // logit
  float sum;      // of exp(logit - highest)
  float label;    // its logit, 0 where it is not here
};
void local_loss_rows(const LossRows& tensors, RowStats* stats, std::size_t first, std::size_t last);

}  // namespace rematch::nn

// Cross entropy of bf16 logits in fp32, a row at a time. Plain arrays; a caller spreads the rows over threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/nn/simd.h"

namespace rematch::nn {

// What makes a row's gradient of its logits again: exp(logit - highest) * factor, less the label's weight.
struct RowScale {
  float highest;
  float factor;
};

struct LossRows {
  const simd::Bf16* logits;    // [rows, num_classes]
  const std::int64_t* labels;  // one a row
  float* losses;               // one a row
  float* dlogits;              // [rows, num_classes]: of the mean of the losses; or null
  RowScale* scales;            // one a row, instead of dlogits; or null
  std::size_t num_classes;
  float weight;  // of one row in the mean
};

void cross_entropy_rows(const LossRows& tensors, std::size_t first, std::size_t last);

// The first half of it, for a rank that has some of the classes only: of each row the exponentials in `dlogits`, unless it is null, and
// what the others need to know. `labels` count from the first class here, and may lie outside; `losses` and `scales` are not used.
struct RowStats {
  float highest;  // logit
  float sum;      // of exp(logit - highest)
  float label;    // its logit, 0 where it is not here
};
void local_loss_rows(const LossRows& tensors, RowStats* stats, std::size_t first, std::size_t last);

struct GradRows {
  simd::Bf16* logits;          // [rows, num_classes]: become their gradient
  const std::int64_t* labels;  // one a row, as for local_loss_rows
  const RowScale* scales;      // one a row
  std::size_t num_classes;
  float weight;     // of one row in the mean
  float loss_grad;  // what the gradient is multiplied by before it is rounded
};

// The same bits as `dlogits` times loss_grad, rounded.
void write_grad_rows(const GradRows& tensors, std::size_t first, std::size_t last);

}  // namespace rematch::nn

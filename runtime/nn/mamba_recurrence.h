// Mamba2's recurrence over tokens t, for each head: state = exp(log_decay_t) state + dt_t x_t B_t^T; y_t = state C_t + skip x_t.
// A head reads B and C of its group.
#pragma once

#include "runtime/nn/chunked_scan.h"
#include "runtime/nn/mamba.h"

namespace rematch::nn {

// Inputs: x [S, B, N * P], B and C [S, B, G * K], dt and log_decay [S, B, N]. State: [B, G, N / G * P, K]. N heads of P columns, K states.
class Mamba2Recurrence final : public ChunkedScan {
 public:
  // skip_N has the type of the maths; its gradient is the caller's.
  Mamba2Recurrence(const Mamba2Shape& shape, const at::Tensor& skip_N) : ChunkedScan(shape.chunk_size), shape_(shape), skip_N_(skip_N) {}

  at::Tensor initial_state(std::int64_t batch) const;
  at::Tensor written(const ScanChunk& chunk) const override;
  at::Tensor next_state(const ScanChunk& chunk, const at::Tensor& written) const override;
  at::Tensor output(const ScanChunk& chunk, const at::Tensor& written) const override;

 private:
  at::Tensor by_head(const at::Tensor& x_QBD) const;
  at::Tensor by_group(const at::Tensor& x_QBD) const;
  at::Tensor cumulative_log_decay(const ScanChunk& chunk) const;

  Mamba2Shape shape_;
  at::Tensor skip_N_;
};

}  // namespace rematch::nn

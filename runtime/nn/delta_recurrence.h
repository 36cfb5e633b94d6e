// The gated delta rule as a chunked scan. With the chunk's cumulative log decay c and M_ij = beta_i (k_i . k_j) exp(c_i - c_j) for j < i,
// the chunk writes (I + M)^-1 (beta (v - exp(c) k state)) under its keys.
#pragma once

#include "runtime/nn/chunked_scan.h"

namespace rematch::nn {

// Inputs: q, k [S, B, N, K], v [S, B, N, V], g, beta [S, B, N]. State: [B, N, K, V].
class DeltaRecurrence final : public ChunkedScan {
 public:
  // inverse_SBNC: (I + M)^-1 of each chunk, row by row, as write_inverses fills it.
  DeltaRecurrence(std::int64_t chunk_size, const at::Tensor& inverse_SBNC) : ChunkedScan(chunk_size), inverse_SBNC_(inverse_SBNC) {}

  void write_inverses(const std::vector<at::Tensor>& inputs) const;

  at::Tensor written(const ScanChunk& chunk) const override;
  at::Tensor next_state(const ScanChunk& chunk, const at::Tensor& written) const override;
  at::Tensor output(const ScanChunk& chunk, const at::Tensor& written) const override;

 private:
  at::Tensor inverse(const ScanChunk& chunk) const;
  at::Tensor inverse_SBNC_;
};

}  // namespace rematch::nn

// Context-parallel ranks as threads of one process over real Gloo, and whole sequences from what they have.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <string>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/nn/context_chunks.h"
#include "tests/runtime/rank_threads.h"

namespace rematch::nn {

// rank_body(mesh) on each of `num_ranks` ranks. A failing rank fails the test.
inline void on_context_ranks(int num_ranks, const std::string& comm_type, const std::function<void(const mesh::Mesh&)>& rank_body) {
  run_ranks({.world_size = num_ranks, .context_parallel_size = num_ranks, .cp_comm_type = comm_type}, rank_body);
}

// What the rank at `place` has of x, which is whole along `dim`, where `batch` entries belong to each position.
inline at::Tensor local_tokens(const at::Tensor& x, std::int64_t dim, ContextPlace place, std::int64_t batch = 1) {
  std::vector<at::Tensor> runs;
  for (const auto& run : token_runs(place, x.size(dim) / batch / place.size))
    runs.push_back(x.narrow(dim, run.first * batch, run.count * batch));
  return at::cat(runs, dim);
}

// parts[r] of rank r, put together along `dim`.
inline at::Tensor whole_sequence(const std::vector<at::Tensor>& parts, std::int64_t dim, std::int64_t batch = 1) {
  const int size = static_cast<int>(parts.size());
  auto sizes = parts[0].sizes().vec();
  const auto num_local = sizes[static_cast<std::size_t>(dim)] / batch;
  sizes[static_cast<std::size_t>(dim)] *= size;
  auto whole = at::empty(sizes, parts[0].options());
  for (int rank = 0; rank < size; ++rank)
    for (const auto& run : token_runs({rank, size}, num_local))
      whole.narrow(dim, run.first * batch, run.count * batch)
          .copy_(parts[static_cast<std::size_t>(rank)].narrow(dim, run.row * batch, run.count * batch));
  return whole;
}

}  // namespace rematch::nn

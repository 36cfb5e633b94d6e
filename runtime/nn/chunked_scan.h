// A recurrence whose state is a matrix, taken chunk by chunk, for the bodies of kernels: inside a chunk all is matrix products, from one
// chunk to the next only the state goes on. Tensors are sequence-first [S, ...]; the last chunk may be short.
// The gradients need no formula of their own: chunks are replayed from the last to the first, each in a small graph of its own from the
// state before it, so the temporaries of backward are one state a chunk and the graph of one chunk.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rematch::nn {

struct ChunkRows {
  std::int64_t first = 0;
  std::int64_t count = 0;
  at::Tensor of(const at::Tensor& x) const { return x.narrow(0, first, count); }
};

template <typename Body>
void for_each_chunk(std::int64_t length, std::int64_t chunk_size, const Body& body) {
  for (std::int64_t first = 0; first < length; first += chunk_size) body(ChunkRows{first, std::min(chunk_size, length - first)});
}

struct ScanChunk {
  ChunkRows rows;
  std::vector<at::Tensor> inputs;  // its rows of the scan's inputs, in the maths' type
  at::Tensor state;                // before it
};

class ChunkedScan {
 public:
  explicit ChunkedScan(std::int64_t chunk_size) : chunk_size_(chunk_size) {}
  virtual ~ChunkedScan() = default;

  // Differentiable functions of the chunk's inputs and state.
  virtual at::Tensor written(const ScanChunk& chunk) const = 0;  // what the chunk adds to the state, and its output reads too
  virtual at::Tensor next_state(const ScanChunk& chunk, const at::Tensor& written) const = 0;
  virtual at::Tensor output(const ScanChunk& chunk, const at::Tensor& written) const = 0;

  std::int64_t chunk_size() const { return chunk_size_; }

 private:
  std::int64_t chunk_size_;
};

// Fills `output`. `initial_state` has the type of the maths.
void scan_into(const at::Tensor& output, const ChunkedScan& scan, const std::vector<at::Tensor>& inputs, const at::Tensor& initial_state);

struct ScanGrads {
  at::Tensor output;               // given
  std::vector<at::Tensor> inputs;  // to be filled, one for each of the scan's inputs
};
void scan_grads_into(const ScanGrads& grads, const ChunkedScan& scan, const std::vector<at::Tensor>& inputs,
                     const at::Tensor& initial_state);

// Multiplications and additions of the matrix products in a chunk, of all sequences and heads; running sums are none.
struct ChunkFlops {
  std::int64_t written = 0;
  std::int64_t next_state = 0;
  std::int64_t output = 0;
  std::int64_t forward_only = 0;  // beside the three
  std::int64_t backward_only = 0;
};

// Of scan_into and scan_grads_into. flops_of(count): of a chunk of so many tokens.
template <typename FlopsOf>
std::int64_t scan_flops(std::int64_t length, std::int64_t chunk_size, const FlopsOf& flops_of) {
  std::int64_t sum = 0;
  for_each_chunk(length, chunk_size, [&](ChunkRows rows) {
    const ChunkFlops chunk = flops_of(rows.count);
    sum += chunk.written + chunk.next_state + chunk.output + chunk.forward_only;
  });
  return sum;
}

template <typename FlopsOf>
std::int64_t scan_grads_flops(std::int64_t length, std::int64_t chunk_size, const FlopsOf& flops_of) {
  std::int64_t sum = 0;
  for_each_chunk(length, chunk_size, [&](ChunkRows rows) {
    const ChunkFlops chunk = flops_of(rows.count);
    // A product of a chunk's graph, and two for its gradients. Nothing needs the state behind the last chunk.
    sum += 3 * (chunk.written + chunk.output) + chunk.backward_only;
    const bool is_last = rows.first + rows.count == length;
    if (!is_last) sum += chunk.written + chunk.next_state + 3 * chunk.next_state;  // the next chunk's start; in the graph
  });
  return sum;
}

// Sums of the first 1, 2, ... elements of the last dim. A matrix product: at::cumsum has no deterministic kernel on cuda.
at::Tensor cumulative_sum(const at::Tensor& x);

// exp(sum of log_decay over (j, i]) for j <= i, 0 elsewhere: what is left at i of what was written at j. cumulative [..., Q] -> [..., Q, Q]
at::Tensor decay_between(const at::Tensor& cumulative_log_decay);

}  // namespace rematch::nn

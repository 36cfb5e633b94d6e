#include "runtime/nn/chunked_scan.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

namespace rematch::nn {

namespace {

ScanChunk chunk_of(ChunkRows rows, const std::vector<at::Tensor>& inputs, const at::Tensor& state) {
  ScanChunk chunk{.rows = rows, .inputs = {}, .state = state};
  for (const auto& input : inputs) chunk.inputs.push_back(rows.of(input).to(state.scalar_type()));
  return chunk;
}

struct ChunkStart {
  ChunkRows rows;
  at::Tensor state;
};

std::vector<ChunkStart> chunk_starts(const ChunkedScan& scan, const std::vector<at::Tensor>& inputs, const at::Tensor& initial_state) {
  std::vector<ChunkStart> starts;
  for_each_chunk(inputs[0].size(0), scan.chunk_size(), [&](ChunkRows rows) {
    if (starts.empty()) {
      starts.push_back({rows, initial_state});
      return;
    }
    const auto before = chunk_of(starts.back().rows, inputs, starts.back().state);
    starts.push_back({rows, scan.next_state(before, scan.written(before))});
  });
  return starts;
}

// Gradients of the chunk's inputs and then of its state. `dstate` is that of the state after it; undefined: the sequence ends here.
std::vector<at::Tensor> chunk_grads(const ChunkedScan& scan, const ScanChunk& chunk, const at::Tensor& doutput, const at::Tensor& dstate) {
  const at::AutoGradMode with_graph(true);
  ScanChunk leaves{.rows = chunk.rows, .inputs = {}, .state = chunk.state.detach().requires_grad_()};
  for (const auto& input : chunk.inputs) leaves.inputs.push_back(input.detach().requires_grad_());
  const auto written = scan.written(leaves);
  std::vector<at::Tensor> roots = {scan.output(leaves, written)}, root_grads = {doutput};
  if (dstate.defined()) {
    roots.push_back(scan.next_state(leaves, written));
    root_grads.push_back(dstate);
  }
  auto wanted = leaves.inputs;
  wanted.push_back(leaves.state);
  return torch::autograd::grad(roots, wanted, root_grads);
}

}  // namespace

void scan_into(const at::Tensor& output, const ChunkedScan& scan, const std::vector<at::Tensor>& inputs, const at::Tensor& initial_state) {
  auto state = initial_state;
  for_each_chunk(inputs[0].size(0), scan.chunk_size(), [&](ChunkRows rows) {
    const auto chunk = chunk_of(rows, inputs, state);
    const auto written = scan.written(chunk);
    rows.of(output).copy_(scan.output(chunk, written));
    state = scan.next_state(chunk, written);
  });
}

void scan_grads_into(const ScanGrads& grads, const ChunkedScan& scan, const std::vector<at::Tensor>& inputs,
                     const at::Tensor& initial_state) {
  auto starts = chunk_starts(scan, inputs, initial_state);
  at::Tensor dstate;
  for (; !starts.empty(); starts.pop_back()) {
    const auto& [rows, state] = starts.back();
    auto computed = chunk_grads(scan, chunk_of(rows, inputs, state), rows.of(grads.output).to(state.scalar_type()), dstate);
    dstate = computed.back();
    for (std::size_t i = 0; i < grads.inputs.size(); ++i) rows.of(grads.inputs[i]).copy_(computed[i]);
  }
}

at::Tensor cumulative_sum(const at::Tensor& x) { return at::matmul(x, at::ones({x.size(-1), x.size(-1)}, x.options()).triu()); }

at::Tensor decay_between(const at::Tensor& cumulative_log_decay) {
  const auto size = cumulative_log_decay.size(-1);
  const auto later = at::ones({size, size}, cumulative_log_decay.options().dtype(at::kBool)).triu(1);
  const auto between = cumulative_log_decay.unsqueeze(-1) - cumulative_log_decay.unsqueeze(-2);
  // Masked before exp, which would overflow above the diagonal.
  return between.masked_fill(later, -std::numeric_limits<double>::infinity()).exp();
}

}  // namespace rematch::nn

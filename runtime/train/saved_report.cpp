#include "runtime/train/saved_report.h"

#include <ATen/core/Tensor.h>
#include <torch/csrc/autograd/edge.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

#include "runtime/base/scope.h"
#include "runtime/parallel/pipeline_links.h"

namespace rematch::train {

namespace {

using Row = std::vector<std::string>;

constexpr std::int64_t kAllocatorAlignment = 512;  // bytes: what a tensor takes is a multiple
constexpr std::size_t kGap = 2;

std::int64_t allocated(std::int64_t bytes) { return (bytes + kAllocatorAlignment - 1) / kAllocatorAlignment * kAllocatorAlignment; }

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const auto size : sizes) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "1" : text;
}

// "layers.3" of "layers.3.mlp.experts"; what is outside the layers by its own name.
std::string layer_of(const std::string& module) {
  if (module.rfind("layers.", 0) != 0) return module.empty() ? "embedding" : module.substr(0, module.find('.'));
  return module.substr(0, module.find('.', std::string("layers.").size()));
}

std::string region_text(const std::string& region) { return region.empty() ? "-" : region; }

std::string aligned(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) text += row[i] + std::string(widths[i] - row[i].size() + kGap, ' ');
    text += std::string(widths.back() - row.back().size(), ' ') + row.back() + '\n';
  }
  return text;
}

using Totals = std::vector<std::pair<std::string, std::int64_t>>;  // in order of first appearance

void add(Totals& totals, const std::string& key, std::int64_t bytes) {
  const auto found = std::find_if(totals.begin(), totals.end(), [&](const auto& total) { return total.first == key; });
  if (found == totals.end())
    totals.emplace_back(key, bytes);
  else
    found->second += bytes;
}

std::string totals_text(const std::string& heading, const Totals& totals) {
  std::vector<Row> rows = {{heading, "bytes"}};
  for (const auto& [key, bytes] : totals) rows.push_back({key, std::to_string(bytes)});
  return '\n' + aligned(rows);
}

// Keeps the graph.
struct Forward {
  models::ModelInput input;
  at::Tensor loss;  // where the head is
  torch::autograd::Edge output;
};

Forward run_forward(const ModelChunk& chunk, models::ModelInput input, parallel::PipelineLinks& links) {
  const base::RoleScope role(protocol::Role::kActivations);
  auto output = chunk.model->forward(input);
  if (chunk.layers.has_head) return {std::move(input), std::move(output), {}};
  links.send_activation(output);
  return {std::move(input), {}, torch::autograd::impl::gradient_edge(output)};
}

}  // namespace

HeldForBackward held_for_backward(BuiltModel& built, const mesh::Mesh& mesh, const probes::DeviceMemory& memory) {
  const auto before = memory.snapshot().allocated_bytes;
  parallel::PipelineLinks links(mesh, built.stream_shape());
  const base::SavedTensorLog log;
  std::vector<Forward> forwards;
  for (const auto& chunk : built.chunks()) {
    auto input = built.input(/*step=*/0, /*micro_batch=*/0, static_cast<std::int64_t>(forwards.size()));
    if (!chunk.layers.has_embedding) input.hidden_TH = links.receive_activation();
    forwards.push_back(run_forward(chunk, std::move(input), links));
  }
  links.wait();
  return {log.held(), memory.snapshot().allocated_bytes - before};
}

std::string saved_tensor_table(const HeldForBackward& held) {
  std::vector<Row> rows = {{"module", "region", "tensor", "sizes", "type", "bytes"}};
  Totals layers, regions;
  std::int64_t total = 0;
  for (const auto& tensor : held.tensors) {
    const auto bytes = allocated(tensor.bytes);
    rows.push_back({tensor.module.empty() ? "embedding" : tensor.module, region_text(tensor.region), tensor.name, sizes_text(tensor.sizes),
                    tensor.dtype, std::to_string(bytes)});
    add(layers, layer_of(tensor.module), bytes);
    add(regions, region_text(tensor.region), bytes);
    total += bytes;
  }
  const Totals sums = {{"saved tensors", total}, {"held by other tensors", held.held_bytes - total}, {"held in all", held.held_bytes}};
  return aligned(rows) + totals_text("layer", layers) + totals_text("region", regions) + totals_text("total", sums);
}

}  // namespace rematch::train

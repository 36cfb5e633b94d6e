// A recompute boundary: one unit of one layer that may be replayed in backward instead of kept. The only way a unit is wrapped.
// A region is a function and its inputs; parameters come in through the function. Regions nest. Main thread only.
// The mechanisms follow Megatron Core's tensor_parallel/random.py: CheckpointFunction and CheckpointWithoutOutput.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/random/random_streams.h"

namespace rematch::recompute {

using Tensors = std::vector<at::Tensor>;
// Outputs must own their storage (no views of inputs) and be what the next operation saves.
using RegionFn = std::function<Tensors(const Tensors&)>;

class DiscardState;

// What a region made. `tensors` are used as if no region were there.
class RegionOutput {
 public:
  static RegionOutput plain(Tensors tensors);  // of no region
  RegionOutput(Tensors tensors_in, c10::intrusive_ptr<DiscardState> state);
  ~RegionOutput();
  RegionOutput(RegionOutput&&) noexcept;
  RegionOutput& operator=(RegionOutput&&) = delete;

  Tensors tensors;

  // Output-discarding regions: drop the outputs' memory now, after their consumer has saved them, and replay when the gradient of
  // `consumer_output` arrives. Call once, with a tensor whose gradient comes before the consumer's backward. No effect otherwise.
  void discard_after(const at::Tensor& consumer_output);

 private:
  c10::intrusive_ptr<DiscardState> state_;
};

// How a plain checkpoint keeps its first input: `distribute_saved_activations` keeps one slice a tensor-parallel rank.
struct InputShard {
  std::function<at::Tensor(const at::Tensor& whole)> keep;
  std::function<at::Tensor(const at::Tensor& kept, at::IntArrayRef sizes)> restore;  // collective over the same ranks
};

enum class Mode { kInactive, kCheckpoint, kDiscardOutput };

// What becomes of a region's outputs where its label is active, which decides whose they are even where it is not: kept outputs belong to
// what surrounds the region, dropped ones to the region.
enum class Outputs { kKept, kDropped };

// All that is fixed when the model is built. What the pointers name outlives the region.
struct RegionSite {
  std::string label;
  Mode mode = Mode::kInactive;
  Outputs outputs = Outputs::kKept;
  std::int64_t* replays = nullptr;           // counts the replays
  random::RandomStreams* streams = nullptr;  // stashed at forward, restored for the replay
  const InputShard* input_shard = nullptr;   // null: inputs are kept whole
};

class Region {
 public:
  explicit Region(RegionSite site) : site_(std::move(site)) {}

  // Inactive, or without gradients (inside another region's first forward): plainly fn(inputs).
  RegionOutput run(const RegionFn& fn, const Tensors& inputs) const;

 private:
  RegionOutput run_inside(const RegionFn& fn, const Tensors& inputs) const;

  RegionSite site_;
};

}  // namespace rematch::recompute

// A recompute boundary: one unit of one layer that may be replayed in backward instead of kept. The only way a unit is wrapped.
// A region is a function and its inputs; parameters come in through the function. Regions nest. Main thread only.
// The mechanisms follow Megatron Core's tensor_parallel/random.py (facts: plain checkpoint, output-discarding checkpoint).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "schemas/protocol/recompute_labels.h"

namespace rematch::recompute {

using Tensors = std::vector<at::Tensor>;
// Outputs must own their storage (no views of inputs) and be what the next operation saves.
using RegionFn = std::function<Tensors(const Tensors&)>;

class DiscardState;

// What a region made. `tensors` are used as if no region were there.
class RegionOutput {
 public:
  explicit RegionOutput(Tensors tensors_in, c10::intrusive_ptr<DiscardState> state = {});
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

class Region {
 public:
  enum class Mode { kInactive, kCheckpoint, kDiscardOutput };

  // `replays` outlives the region and counts the replays.
  Region(Mode mode, std::int64_t* replays) : mode_(mode), replays_(replays) {}

  // Inactive, or without gradients (inside another region's first forward): plainly fn(inputs).
  RegionOutput run(const RegionFn& fn, const Tensors& inputs) const;

 private:
  Mode mode_;
  std::int64_t* replays_;
};

}  // namespace rematch::recompute

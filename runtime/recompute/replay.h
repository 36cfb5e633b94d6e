// What both mechanisms share: one use of a region, which can be run again as it ran first; inputs that start a graph of their own; and the
// replay's nested backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "runtime/random/random_state.h"
#include "runtime/recompute/region.h"

namespace rematch::recompute {

// Made at a region's forward: remembers where it was and what random numbers came next.
class RegionUse {
 public:
  RegionUse(const RegionSite& site, RegionFn fn);

  const RegionSite& site() const { return site_; }
  Tensors run_first(const Tensors& inputs) const;
  // Again with a graph, under the same module and region path, with the same random numbers. Counted.
  Tensors replay(const Tensors& inputs) const;

 private:
  RegionSite site_;
  RegionFn fn_;
  std::string module_path_;
  std::string region_path_;
  random::RandomState random_;
};

// Aliases of the inputs that start a graph of their own: same storage, same requires_grad.
Tensors detach_inputs(const Tensors& inputs);

// Backward over a replay's graph, then the gradients of its detached inputs (undefined where none was asked for). Frees the graph. The
// outputs are let go before it begins: whoever saved them in the graph keeps them as long as it needs them, and no longer.
Tensors replay_backward(Tensors outputs, const Tensors& output_grads, Tensors inputs);

}  // namespace rematch::recompute

// Plain checkpoint: keeps the inputs, runs the function without a graph, replays it in backward.
#pragma once

#include "runtime/recompute/region.h"

namespace rematch::recompute {

// At least one input must require a gradient: a graph of parameters alone would never be replayed.
Tensors run_checkpointed(const RegionSite& site, const RegionFn& fn, const Tensors& inputs);

}  // namespace rematch::recompute

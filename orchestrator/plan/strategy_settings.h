// The settings that a strategy may come to beside those that the sweep names: pairs of labels, unions of narrow labels, whole modules with
// others, full recompute. What the sweep writes itself (`sets`, `full`) is left as it is. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestrator/spec/sweep.h"

namespace rematch::plan {

// `labels` can run alone, in the sweep's order; `num_layers` is that of the largest model chunk. Settings
// that the sweep names are not among them, nor any setting twice.
std::vector<protocol::RecomputeSpec> strategy_settings(const spec::SweepSpec& spec, const std::vector<std::string>& labels,
                                                       std::int64_t num_layers);

}  // namespace rematch::plan

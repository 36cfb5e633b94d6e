// A sweep for real ranks becomes the same sweep on the meta device: what it stands for is filled in from the sweep's `simulate` section and
// the device table, each with its origin. Pure.
#pragma once

#include <string>

#include "orchestrator/spec/sweep.h"

namespace rematch::plan {

// Lay over a sweep that is parsed for a simulation: the trainer then need not have the device that the sweep is for.
inline constexpr const char* kSimulateOrigin = "--simulate";
std::vector<spec::Override> simulate_overrides();

// Wants a spec without problems, parsed with simulate_overrides(). One block of simulate.train_iters steps and no timing; the capacity is
// the device's memory less what lies outside the allocator, unless the sweep has backend.memory_limit. make_plan then takes the control
// once.
spec::SweepSpec simulated(const spec::SweepSpec& spec);

}  // namespace rematch::plan

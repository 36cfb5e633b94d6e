// A sweep for real ranks becomes the same sweep on the meta device: what it stands for is filled in from the sweep's `simulate` section and
// the device table, each with its origin. Pure.
#pragma once

#include "orchestrator/spec/sweep.h"

namespace rematch::plan {

// Wants a spec without problems, parsed for kSimulate. One block of simulate.train_iters steps and no timing; the capacity is
// the device's memory less what lies outside the allocator, unless the sweep has backend.memory_limit. make_plan then takes the control
// once.
spec::SweepSpec simulated(const spec::SweepSpec& spec);

}  // namespace rematch::plan

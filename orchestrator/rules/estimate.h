// Rule: how long a step would take on the device that a prediction stands for, by roofline over what a rank computed and communicated.
// It orders arms and states the replayed share; it is an estimate and nobody's measurement. reports/METRICS.md, "Estimated step time".
// Pure.
#pragma once

#include <optional>

#include "orchestrator/base/device_table.h"
#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// One pass of a step: everything one after the other, and no shorter than its launches.
double pass_time_ns(const protocol::StepRecord& step, protocol::Pass pass, std::int64_t rank, const protocol::ParallelDims& dims,
                    const base::DeviceRow& device);

// How often longer a pipeline takes than its rank computes: (m + (p - 1) / v) / m, m micro-batches, p ranks of v model chunks each.
double bubble_factor(const protocol::Trial& trial);

// Of the last step of the rank that takes longest. nullopt: no prediction, no row of its device, or a rank without a step or its work.
std::optional<base::StepEstimate> estimate_step(const base::AttemptRows& attempt);

}  // namespace rematch::rules

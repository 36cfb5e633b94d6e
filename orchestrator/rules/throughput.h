// Rule: TFLOP/s per rank of a step, and means of samples. Pure.
#pragma once

#include <optional>
#include <span>

#include "orchestrator/base/rows.h"

namespace rematch::rules {

// Work of a step (Megatron's formula, replay not counted) / step time / world size. nullopt: no rank has recorded the work, or no time.
std::optional<double> tflops_per_rank(const base::AttemptRows& attempt, std::optional<double> step_time_ns);
// The mean of the values of each step; nullopt without any.
std::optional<double> mean_tflops_per_rank(const base::AttemptRows& attempt, std::span<const double> step_times_ns);

std::optional<double> mean(std::span<const double> samples);  // nullopt of none

}  // namespace rematch::rules

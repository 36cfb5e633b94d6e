// Where the warm-up of a run ends: MSER on single step times, never before the steps that are warm-up by construction. Pure.
// MSER drops the d first samples that minimise variance of the rest / number of the rest, so it balances bias against noise.
#pragma once

#include <cstdint>
#include <span>

namespace rematch::stats {

struct WarmupEnd {
  std::int64_t first_steady_step = 0;  // 0-based index into the step times
  bool reached = false;                // false: the minimum lies past half of the run, or too few steps are left to look
};

inline constexpr std::int64_t kFewestStepsKept = 10;

// `first_allowed`: steps before it are warm-up whatever their times. When the end is not reached, first_steady_step is first_allowed.
WarmupEnd find_warmup_end(std::span<const double> step_times, std::int64_t first_allowed);

}  // namespace rematch::stats

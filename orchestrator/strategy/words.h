// What decisions say of arms, with the numbers. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::strategy {

// How an arm ended: "peaks at N bytes, M more than the budget", "ran out of memory (warm of step 1, forward, rank 0) in 3 of 3 runs".
std::string ending_text(const base::ArmVerdict& arm, const std::optional<std::int64_t>& budget_bytes);

}  // namespace rematch::strategy

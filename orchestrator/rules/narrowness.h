// Rule: which of two recompute settings is the narrower. A union is as wide as its widest label, then as its next, then as its length;
// full recompute is wider than any selective setting, uniform wider than block, more layers wider than fewer. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "schemas/protocol/trial.h"

namespace rematch::rules {

// Compare two with operator<. Empty for a control.
using Width = std::vector<std::int64_t>;
Width width_of(const protocol::RecomputeSpec& recompute);

}  // namespace rematch::rules

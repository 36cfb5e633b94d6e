// Rule: recompute must not change what is learned. The losses of every rank equal the reference's to the bit over the steps that both
// completed. The reference is the control; if the control has no passing run, the narrowest passing arm as well. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// The first rank and step that differ, with both values; nullopt when all are equal.
std::optional<base::Shortfall> loss_mismatch(const base::AttemptRows& attempt, const base::AttemptRows& reference);

// "[] block 0 slot 3, steps 0 to 19": what an attempt's losses were compared with; empty when no step is common.
std::string loss_basis(const base::AttemptRows& attempt, const base::AttemptRows& reference);

}  // namespace rematch::rules

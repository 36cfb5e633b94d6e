// Rule: a control is attested, not assumed. Every rank must have resolved an empty recompute list and replayed nothing. Pure.
#pragma once

#include <optional>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Why this attempt of the control is no control, with the rank and what it resolved; nullopt when nothing speaks against it.
std::optional<base::Shortfall> control_refuted(const base::AttemptRows& attempt);

}  // namespace rematch::rules

// Rule: a candidate with a label that wrapped no region, or whose regions were never replayed, is inactive: it shows nothing about the
// label, and is never reported as "no effect". Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::rules {

// The label and why; nullopt when every label acted, or the ranks did not get far enough to know.
std::optional<std::string> inactive_reason(const base::AttemptRows& attempt);

}  // namespace rematch::rules

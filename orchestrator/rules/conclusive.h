// Rule: only an attempt that says something of its arm is judged. One that was interrupted, lost or taken away by the cluster is kept
// as a row and its trial is run again.
#pragma once

#include "orchestrator/base/rows.h"

namespace rematch::rules {

bool is_conclusive(const base::AttemptRows& attempt);

}  // namespace rematch::rules

// What the hot rank of one attempt communicated in its last completed step. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// One row an axis, pass and operation; no rows when there was no call.
Table communication_table(const base::AttemptRows& attempt);

// What its replays communicated; empty without any communication.
std::vector<Fact> replayed_communication_facts(const base::AttemptRows& attempt);

}  // namespace rematch::report

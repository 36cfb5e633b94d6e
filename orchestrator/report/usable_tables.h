// The usable bytes that published outcomes ask for: row by row, and the interval that is left of them. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"
#include "schemas/protocol/published.h"

namespace rematch::report {

// "usable_bytes", "usable_interval" and "usable_rests"; without rows where no published row says anything, the last where none contradict.
std::vector<Table> usable_tables(const base::StudyRows& study, const protocol::Published& published);
// Rows that no capacity explains, and how far the peaks of this study can be relied on.
std::vector<std::string> usable_notes(const base::StudyRows& study, const protocol::Published& published);

}  // namespace rematch::report

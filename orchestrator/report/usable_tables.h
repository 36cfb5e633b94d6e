// The usable bytes that published outcomes ask for: row by row, and the interval that is left of them. Pure.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"
#include "schemas/protocol/published.h"

namespace rematch::report {

// Tables "usable_bytes", "usable_interval" and "usable_rests", without rows where no published row says anything, the last where none
// contradict; notes of rows that no capacity explains.
ReportPart usable_report(const base::StudyRows& study, const protocol::Published& published);

}  // namespace rematch::report

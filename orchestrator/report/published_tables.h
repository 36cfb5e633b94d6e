// A study beside what others published of the same setting: peaks, outcomes, rows that cannot be compared, and the usable bytes that would
// explain the published outcomes. Published figures and the study's own have columns of their own. Pure.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"
#include "schemas/protocol/published.h"

namespace rematch::report {

// Tables in the order in which a report prints them, one without rows left out; notes of the source, and what the tables cannot say.
ReportPart published_report(const base::StudyRows& study, const protocol::Published& published);

}  // namespace rematch::report

// The audit of published tables as a report: what was recomputed, what was found, what the tables support. Every figure is the source's or
// recomputed from the source's; what a study counted has a column of its own. Pure.
#pragma once

#include <vector>

#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/audit_published.h"

namespace rematch::report {

// One report of all tables, one at least; rows say which table they are of.
ReportModel make_audit_report(const std::vector<rules::PublishedAudit>& audits);

}  // namespace rematch::report

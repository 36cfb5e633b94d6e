// A study in the form of the recompute guide's own tables: the same columns and units, so that a row can be set beside a published one.
// A group whose control fits is a matched comparison; of one whose control ran out of memory each arm's result stands with the evidence.
// Pure.
#pragma once

#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Two groups and two provenances never share a table; figures that are not measured say so in the headings of their columns. What the runs
// are too short for is null, and a note says so.
ReportModel make_guide_report(const base::StudyRows& study, const base::StudyVerdict& verdict);

}  // namespace rematch::report

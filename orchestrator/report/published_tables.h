// A study beside what others published of the same setting: peaks, outcomes, rows that cannot be compared, and the usable bytes that would
// explain the published outcomes. Published figures and the study's own have columns of their own. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"
#include "schemas/protocol/published.h"

namespace rematch::report {

// In the order in which a report prints them; a table without rows is left out.
std::vector<Table> published_tables(const base::StudyRows& study, const protocol::Published& published);
// Of the source, and what the tables cannot say.
std::vector<std::string> published_notes(const base::StudyRows& study, const protocol::Published& published);

}  // namespace rematch::report

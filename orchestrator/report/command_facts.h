// The command lines that a reader types to have the study, and its report, again. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Quoted for a shell; the report by the study's id, since names are not unique. Options that were given besides the sweep file are not
// recorded, and not in it. `options`: of the report.
std::vector<Fact> command_facts(const base::StudyPlan& plan, const std::string& options = "");

}  // namespace rematch::report

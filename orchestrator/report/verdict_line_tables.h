// A verdict in words, as tables: of one arm or run, and of all arms of a study. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/report/report_model.h"
#include "orchestrator/rules/verdict_lines.h"

namespace rematch::report {

// A line each: what it is about, the word, the numbers.
Table verdict_lines_table(const std::vector<rules::VerdictLine>& lines);

// The lines of every arm, for programs and for showing one arm later.
Table arm_lines_table(const base::StudyPlan& plan, const base::StudyVerdict& verdict);
// Those of one arm out of it.
std::vector<rules::VerdictLine> lines_of_arm(const Table& arm_lines, const std::string& arm);

// The rows of a table whose first column is the arm, that are of this one.
Table rows_of_arm(const Table& table, const std::string& arm);

}  // namespace rematch::report

// The tables of a study's arms: the main one, and in text those of failed arms and of arms without figures. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// One table a provenance, with the columns that it has: a prediction has estimates in place of times. Arms without any
// number stand in the first.
std::vector<Table> arm_tables(const base::StudyRows& study, const base::StudyVerdict& verdict);
// Where each failed arm stopped and what it was set against. Empty rows when none failed.
Table failed_arms_table(const base::StudyRows& study, const base::StudyVerdict& verdict);
// Why an arm carries no numbers. Empty rows when all do.
Table reasons_table(const base::StudyRows& study, const base::StudyVerdict& verdict);
// The A/A difference of each block.
std::vector<Table> control_pairs_tables(const base::StudyVerdict& verdict);  // one a group

// What the words on step times rest on, as data; text has it as facts. Empty rows without a fit.
Table time_fits_table(const base::StudyVerdict& verdict);

}  // namespace rematch::report

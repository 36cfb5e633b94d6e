// The tables of one attempt: its ranks, peaks by phase, what the peak is made of, stage ledger, labels, steps and messages. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

std::vector<Table> attempt_tables(const base::AttemptRows& attempt);
// One row a run: where it stood in the order, its outcome and figures.
Table runs_table(const base::StudyPlan& plan, const std::vector<base::RunVerdict>& runs);

// How to run the trial again by hand, from a copy of its folder: a shell command line. Empty when it was never launched.
std::string replay_command(const base::AttemptRows& attempt);

}  // namespace rematch::report

// A valid SweepSpec becomes a StudyPlan: its arms (expand), its group (match) and its trials in the order in which they run (order).
// Pure: the same spec and trainer give the same plan, ids included, on every machine.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/spec/sweep.h"
#include "schemas/protocol/describe.h"

namespace rematch::plan {

base::StudyPlan make_plan(const spec::SweepSpec& spec, const protocol::Describe& trainer);

// What only the expanded plan shows: a control that a rule refuses, no candidate left to run; and the warnings of the rules.
struct PlanFindings {
  std::vector<spec::Diagnostic> problems;
  std::vector<spec::Warning> warnings;
};
PlanFindings check_plan(const base::StudyPlan& plan, const spec::SweepSpec& spec, const protocol::Describe& trainer);

}  // namespace rematch::plan

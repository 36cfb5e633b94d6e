// What the hot rank's peak is made of, by role and region, and what each label could take away of it at most. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/warnings.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Empty when it was not measured.
std::vector<Table> attribution_tables(const base::AttemptRows& attempt);
// Of a control alone: how far each label could lower its peak. Empty when it was not measured.
std::vector<Table> control_upper_bounds(const base::AttemptRows& control);
// What the tables cannot say: that nothing was measured, or that no label can help. One sentence, or none.
std::optional<base::Warning> attribution_note(const base::AttemptRows& attempt);

}  // namespace rematch::report

// Where trials of a study ran in another setting than the others of their group, field by field. Pure.
#pragma once

#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Empty of rows where every trial is matched.
Table unmatched_table(const std::vector<base::Unmatched>& unmatched);

}  // namespace rematch::report

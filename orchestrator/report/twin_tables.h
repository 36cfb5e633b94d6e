// A predicted study beside one of another provenance that trains the same: consistency of one program on two devices. Pure.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// Hot ranks arm by arm, and their phases. No tables when no arm ended well in both.
std::vector<Table> twin_tables(const base::StudyRows& study, const base::StudyRows& twin);

}  // namespace rematch::report

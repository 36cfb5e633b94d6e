// A cell as people read it, with its unit: what md, html and latex print. Pure.
#pragma once

#include <string>

#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// "-" for what was not measured; nothing is escaped.
std::string display_text(const Cell& cell, ByteUnits units);

}  // namespace rematch::report

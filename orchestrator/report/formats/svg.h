// A plot as inline SVG: role img with a title and a description, drawn with the classes of the document's style sheet. Pure.
#pragma once

#include <string>

#include "orchestrator/report/format.h"
#include "orchestrator/report/report_model.h"

namespace rematch::report {

// `id` is unique in the document. No height of it depends on the reader's screen: it grows and shrinks as a whole.
std::string svg_of(const Plot& plot, ByteUnits units, const std::string& id);

}  // namespace rematch::report

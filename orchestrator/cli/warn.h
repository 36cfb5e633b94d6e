// A warning on stderr: "rematch: warning [uncollected-trials]: 2 trials of ...". The one way in which verbs print one.
#pragma once

#include <iosfwd>

#include "orchestrator/base/warnings.h"

namespace rematch::cli {

void warn(std::ostream& err, const base::Warning& warning);

}  // namespace rematch::cli

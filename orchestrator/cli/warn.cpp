#include "orchestrator/cli/warn.h"

#include <ostream>

namespace rematch::cli {

void warn(std::ostream& err, const base::Warning& warning) { err << "rematch: " << base::warning_line(warning) << "\n"; }

}  // namespace rematch::cli

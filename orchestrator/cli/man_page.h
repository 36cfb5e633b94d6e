// The manual page of `rematch`, in man(7) macros, out of the command line's own pages. Pure.
#pragma once

#include <string>

#include "orchestrator/cli/command_pages.h"

namespace rematch::cli {

std::string man_page(const ProgramPage& program, const std::string& version);

}  // namespace rematch::cli

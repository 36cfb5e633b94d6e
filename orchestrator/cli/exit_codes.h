// What each exit code of `rematch` means: THE table, which the man page prints and the README's table is tested against.
#pragma once

#include <string_view>
#include <vector>

namespace rematch::cli {

struct ExitCodeRow {
  int code = 0;
  std::string_view meaning;  // one line
};

// In order of the code; 128+n, ended by signal n, is the system's and no row.
const std::vector<ExitCodeRow>& exit_codes();

}  // namespace rematch::cli

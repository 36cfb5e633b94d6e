// The statuses of studies as a table with a line a job below it, and as one JSON document. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/cli/study_status.h"
#include "orchestrator/cli/terminal.h"

namespace rematch::cli {

// Ends in a line break; jobs that wait alike share a line.
// With `size`, of a terminal: no line is wider and no more lines than it has, its last row left free; columns that matter least go first.
std::string status_table(const std::vector<StudyStatus>& statuses, const std::optional<TerminalSize>& size = std::nullopt);
nlohmann::json status_document(const std::vector<StudyStatus>& statuses);

}  // namespace rematch::cli

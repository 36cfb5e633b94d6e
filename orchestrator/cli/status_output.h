// The statuses of studies as a table with a line a job below it, and as one JSON document. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "orchestrator/cli/study_status.h"

namespace rematch::cli {

// Ends in a line break; jobs that wait alike share a line.
std::string status_table(const std::vector<StudyStatus>& statuses);
nlohmann::json status_document(const std::vector<StudyStatus>& statuses);

}  // namespace rematch::cli

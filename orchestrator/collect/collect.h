// One attempt's folder -> its rows. Called by the engine after each attempt and by ingest.
// Never throws on what it finds: a missing or torn file becomes a record problem and a failure kind.
#pragma once

#include <filesystem>
#include <string>

#include "orchestrator/base/rows.h"

namespace rematch::collect {

// Reads trial.json, launch.json and every rank's record of `attempt_folder` (<trial>/attempt-<n>).
base::AttemptRows collect_attempt(const std::filesystem::path& attempt_folder, const std::string& study_id);

}  // namespace rematch::collect

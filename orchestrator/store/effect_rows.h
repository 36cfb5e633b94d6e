// The rows of what arms are said to change, and of the fits that it rests on: tables effect and time_fit. Written with the verdicts.
#pragma once

#include <string>

#include "orchestrator/base/verdicts.h"

namespace rematch::store {

class Database;

// Replaces those of the study, within the caller's transaction.
void insert_effects(Database& database, const std::string& study_id, const base::StudyVerdict& verdict);

}  // namespace rematch::store

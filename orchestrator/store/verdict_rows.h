// A study's verdict -> the table verdict. Called by store.cpp only, inside its transaction.
#pragma once

#include <string>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/store/database.h"

namespace rematch::store {

void delete_verdicts(Database& database, const std::string& study_id);
// In place of those that were there.
void insert_verdicts(Database& database, const std::string& study_id, const base::StudyVerdict& verdict);

}  // namespace rematch::store

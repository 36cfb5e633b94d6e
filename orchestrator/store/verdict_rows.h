// A study's verdict -> the table verdict. Called by store.cpp only, inside its transaction.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/store/database.h"

namespace rematch::store {

// Of every base::Conclusion, as the study's row has it for its outcome.
std::vector<std::string> conclusion_names();

void delete_verdicts(Database& database, const std::string& study_id);
// In place of those that were there.
void insert_verdicts(Database& database, const std::string& study_id, const base::StudyVerdict& verdict);

}  // namespace rematch::store

// A study's plan <-> the tables study, grp, arm and trial. Called by store.cpp only, inside its transaction.
#pragma once

#include <string>

#include "orchestrator/base/rows.h"
#include "orchestrator/store/database.h"

namespace rematch::store {

// What is no longer planned goes, with its attempts; what still is keeps them.
void upsert_plan(Database& database, const base::StudyPlan& plan);
base::StudyPlan select_plan(Database& database, const std::string& study_id);  // study_id must be there

}  // namespace rematch::store

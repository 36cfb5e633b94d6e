// A study's plan <-> the tables study, grp, arm and trial. Called by store.cpp only, inside its transaction.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/store.h"

namespace rematch::store {

// What is no longer planned goes, with its attempts; what still is keeps them.
void upsert_plan(Database& database, const base::StudyPlan& plan);
base::StudyPlan select_plan(Database& database, const std::string& study_id);       // study_id must be there
base::StudyPlan select_plan_head(Database& database, const std::string& study_id);  // the same, with no trials
// In the order in which they run.
std::vector<protocol::Trial> select_trials(Database& database, const std::string& study_id, const TrialChoice& choice);

}  // namespace rematch::store

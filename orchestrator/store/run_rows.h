// What the rules said of runs, read back from the table verdict: as much as lists of runs show. Called by store.cpp only.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/verdicts.h"

namespace rematch::store {

class Database;
struct TrialChoice;

// Of the chosen trials, by block, slot and attempt. Without the peaks of each rank and what the steady state of the whole run was counted
// from; empty where the study has not been judged since its rows changed.
std::vector<base::RunVerdict> select_runs(Database& database, const std::string& study_id, const TrialChoice& choice);

}  // namespace rematch::store

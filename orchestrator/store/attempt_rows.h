// One attempt's rows <-> the tables attempt, rank, stage, step, phase, label_count, peak_attribution,
// communication, rank_oom, rank_error and failure.
// Called by store.cpp only, inside its transaction. Failure: StoreError.
#pragma once

#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/store/database.h"

namespace rematch::store {

void insert_attempt(Database& database, const base::AttemptRows& attempt);
// Of every trial of the plan, ordered by block, slot and attempt.
std::vector<base::AttemptRows> select_attempts(Database& database, const base::StudyPlan& plan);

}  // namespace rematch::store

// The tables communication and work: of each rank its last completed step. Called by attempt_rows.cpp, inside its transaction.
// Failure: StoreError.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/store/columns.h"

namespace rematch::store {

// `key` names the rank.
void insert_last_step(Database& database, const Key& key, const base::RankRows& rank);
// Into the step that the rows belong to, which must have been read.
void select_last_step(Database& database, const Key& key, base::RankRows& rank);

}  // namespace rematch::store

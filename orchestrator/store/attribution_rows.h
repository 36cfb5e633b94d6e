// The table peak_attribution: of each rank the step of its largest peak, and the request that failed. Called by attempt_rows.cpp and
// store.cpp, inside their transactions. Failure: StoreError.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/attributed_peak.h"
#include "orchestrator/store/columns.h"

namespace rematch::store {

// `key` names the rank.
void insert_attributions(Database& database, const Key& key, const base::RankRows& rank);
// Into the step and the out-of-memory record that the rows belong to; both must have been read.
void select_attributions(Database& database, const Key& key, base::RankRows& rank);

// Of the controls of a group, in any study, the largest attributed peak of those without a failure; else of those that ran out of memory.
std::optional<base::ControlPeak> select_control_peak(Database& database, const std::string& group_id);

}  // namespace rematch::store

// What was judged of arms and runs, out of the tables verdict and field_difference. Called by store.cpp only. Failure: StoreError.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/run_summary.h"
#include "orchestrator/store/database.h"

namespace rematch::store {

// nullopt: the study has no verdict.
std::optional<base::StudySummaries> select_summaries(Database& database, const std::string& study_id, const std::vector<std::string>& arms);

}  // namespace rematch::store

#include "orchestrator/store/last_step_rows.h"

#include <algorithm>
#include <tuple>

#include "orchestrator/store/row_columns.h"

namespace rematch::store {

namespace {

using protocol::StepRecord;

template <typename Row, typename Count>
void insert_counts(Database& database, const char* table, const Key& key, std::int64_t step, const std::vector<Count>& counts) {
  for (const Count& count : counts) insert_row(database, table, key, Row{step, count});
}

// `rank_of`: the place of a count in its record; SQL orders passes and operations by name.
template <typename Row, typename Count, typename RankOf>
void select_counts(Database& database, const char* table, const Key& key, std::vector<StepRecord>& steps,
                   std::vector<Count> StepRecord::*counts, const RankOf& rank_of) {
  for (const Row& row : select_rows<Row>(database, table, key, "step"))
    if (row.step < static_cast<std::int64_t>(steps.size())) (steps[static_cast<std::size_t>(row.step)].*counts).push_back(row.count);
  for (StepRecord& step : steps)
    std::sort((step.*counts).begin(), (step.*counts).end(), [&](const Count& a, const Count& b) { return rank_of(a) < rank_of(b); });
}

}  // namespace

void insert_last_step(Database& database, const Key& key, const base::RankRows& rank) {
  if (rank.steps.empty()) return;
  const StepRecord& last = rank.steps.back();
  insert_counts<CommunicationRow>(database, "communication", key, last.step, last.communication);
  insert_counts<WorkRow>(database, "work", key, last.step, last.work);
}

void select_last_step(Database& database, const Key& key, base::RankRows& rank) {
  select_counts<CommunicationRow>(database, "communication", key, rank.steps, &StepRecord::communication,
                                  [](const protocol::CommCount& count) { return std::tie(count.axis, count.pass, count.operation); });
  select_counts<WorkRow>(database, "work", key, rank.steps, &StepRecord::work, [](const protocol::WorkCount& count) { return count.pass; });
}

}  // namespace rematch::store

#include "orchestrator/store/communication_rows.h"

#include <algorithm>
#include <tuple>

#include "orchestrator/store/row_columns.h"

namespace rematch::store {

namespace {

// The order of a record; SQL orders passes and operations by name.
bool stands_before(const protocol::CommCount& a, const protocol::CommCount& b) {
  return std::tie(a.axis, a.pass, a.operation) < std::tie(b.axis, b.pass, b.operation);
}

}  // namespace

void insert_communication(Database& database, const Key& key, const base::RankRows& rank) {
  if (rank.steps.empty()) return;
  const protocol::StepRecord& last = rank.steps.back();
  for (const protocol::CommCount& count : last.communication)
    insert_row(database, "communication", key, CommunicationRow{last.step, count});
}

void select_communication(Database& database, const Key& key, base::RankRows& rank) {
  for (const CommunicationRow& row : select_rows<CommunicationRow>(database, "communication", key, "step, axis, pass, operation"))
    if (row.step < static_cast<std::int64_t>(rank.steps.size()))
      rank.steps[static_cast<std::size_t>(row.step)].communication.push_back(row.count);
  for (protocol::StepRecord& step : rank.steps) std::sort(step.communication.begin(), step.communication.end(), stands_before);
}

}  // namespace rematch::store

#include "orchestrator/report/unmatched_table.h"

#include "orchestrator/report/cells.h"

namespace rematch::report {

namespace {

struct Row {
  const base::Unmatched* trial;
  const base::FieldDifference* difference;
};

}  // namespace

Table unmatched_table(const std::vector<base::Unmatched>& unmatched) {
  std::vector<Row> rows;
  for (const base::Unmatched& one : unmatched)
    for (const base::FieldDifference& difference : one.differences) rows.push_back({&one, &difference});
  const std::vector<ColumnOf<Row>> columns = {
      {{"modules", "modules"}, [](const Row& r) { return text_cell(r.trial->arm); }},
      {{"trial_id", "trial"}, [](const Row& r) { return text_cell(r.trial->trial_id); }},
      {{"attempt", "attempt", Place::kDataOnly}, [](const Row& r) { return Cell{Count{r.trial->attempt}}; }},
      {{"field", "field"}, [](const Row& r) { return text_cell(r.difference->field); }},
      {{"value", "value"}, [](const Row& r) { return text_cell(r.difference->value); }},
      {{"against", "against trial"}, [](const Row& r) { return text_cell(r.trial->against); }},
      {{"against_value", "value there"}, [](const Row& r) { return text_cell(r.difference->against_value); }},
  };
  return table_of("unmatched", "Unmatched: fields that differ beside recompute", columns, rows);
}

}  // namespace rematch::report

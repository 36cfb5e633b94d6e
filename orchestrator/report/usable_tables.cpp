#include "orchestrator/report/usable_tables.h"

#include <algorithm>

#include "orchestrator/base/joined_text.h"
#include "orchestrator/base/warnings.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/provenance_columns.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/usable_bytes.h"

namespace rematch::report {

namespace {

using rules::UsableBytes;
using rules::UsableInterval;
using rules::UsableRow;

struct IntervalRow {
  UsableInterval interval;
  std::optional<std::int64_t> capacity_bytes;
};

struct RestRow {
  rules::UsableRest rest;
  std::optional<std::int64_t> capacity_bytes;
};

std::vector<ColumnOf<UsableRow>> row_columns(const OwnColumns& own) {
  return {
      modules_column<UsableRow>(),
      {{"published_got_through", "published: got through"}, [](const UsableRow& r) { return text_cell(r.at_least_over); }},
      {own.column("at_least_bytes", "at least (allocated)"), [](const UsableRow& r) { return cell_of<Bytes>(r.at_least_bytes); }},
      {{"published_allocated_bytes", "published: allocated when it failed, at least"},
       [](const UsableRow& r) { return cell_of<Bytes>(r.published_allocated_bytes); }},
      {{"published_failing_iteration", "published: failed in iteration"},
       [](const UsableRow& r) { return cell_of<Count>(r.failing_iteration); }},
      {own.column("less_than_bytes", "less than (reserved)"), [](const UsableRow& r) { return cell_of<Bytes>(r.less_than_bytes); }},
      {{"reason", "says nothing because"}, [](const UsableRow& r) { return text_cell(r.why_not); }},
  };
}

Cell place_cell(const rules::Bounds& bounds, const std::optional<std::int64_t>& capacity_bytes) {
  const std::optional<bool> inside = rules::is_inside(bounds, capacity_bytes);
  return inside ? text_cell(*inside ? "inside" : "outside") : Cell{};
}

Cell inside_cell(const IntervalRow& row) { return place_cell({row.interval.from_bytes, row.interval.below_bytes}, row.capacity_bytes); }

std::vector<ColumnOf<IntervalRow>> interval_columns() {
  return {
      {{"from_bytes", "from"}, [](const IntervalRow& r) { return cell_of<Bytes>(r.interval.from_bytes); }},
      {{"from_arm", "to let pass"}, [](const IntervalRow& r) { return text_cell(r.interval.from_arm); }},
      {{"below_bytes", "to below"}, [](const IntervalRow& r) { return cell_of<Bytes>(r.interval.below_bytes); }},
      {{"below_arm", "to make fail"}, [](const IntervalRow& r) { return text_cell(r.interval.below_arm); }},
      {{"interval", "interval"}, [](const IntervalRow& r) { return text_cell(r.interval.is_empty ? "empty" : "not empty"); }},
      {{"contradicting", "contradicting"}, [](const IntervalRow& r) { return text_cell(base::joined(r.interval.contradicting)); }},
      {{"capacity_bytes", "assumed capacity"}, [](const IntervalRow& r) { return cell_of<Bytes>(r.capacity_bytes); }},
      {{"capacity_is", "which is"}, inside_cell},
  };
}

std::vector<ColumnOf<RestRow>> rest_columns() {
  return {
      {{"without", "not explained"}, [](const RestRow& r) { return text_cell(base::joined(r.rest.without)); }},
      {{"from_bytes", "the others from"}, [](const RestRow& r) { return cell_of<Bytes>(r.rest.from_bytes); }},
      {{"below_bytes", "to below"}, [](const RestRow& r) { return cell_of<Bytes>(r.rest.below_bytes); }},
      {{"capacity_bytes", "assumed capacity"}, [](const RestRow& r) { return cell_of<Bytes>(r.capacity_bytes); }},
      {{"capacity_is", "which is"},
       [](const RestRow& r) {
         return place_cell({r.rest.from_bytes, r.rest.below_bytes}, r.capacity_bytes);
       }},
  };
}

std::vector<Table> tables_of(const UsableBytes& usable, const OwnColumns& own) {
  std::vector<UsableRow> rows;
  std::vector<IntervalRow> intervals;
  std::vector<RestRow> rests;
  if (usable.interval.from_bytes || usable.interval.below_bytes) {
    rows = usable.rows;
    intervals = {{usable.interval, usable.capacity_bytes}};
  }
  for (const rules::UsableRest& rest : usable.rests) rests.push_back({rest, usable.capacity_bytes});
  return {table_of("usable_bytes", "Usable bytes that each published outcome asks for", row_columns(own), rows),
          table_of("usable_interval", "Usable bytes that all published outcomes leave", interval_columns(), intervals),
          table_of("usable_rests", "Usable bytes without the fewest rows that contradict the others, each choice of them", rest_columns(),
                   rests)};
}

}  // namespace

ReportPart usable_report(const base::StudyRows& study, const protocol::Published& published) {
  const UsableBytes usable = rules::usable_bytes(study, published);
  ReportPart report;
  report.tables = tables_of(usable, OwnColumns(rules::provenance_of(study).value_or(protocol::Provenance::kPredicted)));
  if (usable.interval.is_empty)
    report.notes.push_back(
        base::with_id(base::WarningId::kOutcomesContradict,
                      "no capacity gives all published outcomes, so that bytes alone do not explain them; these contradict each other: " +
                          base::joined(usable.interval.contradicting)));
  return report;
}

}  // namespace rematch::report

#include "orchestrator/report/usable_tables.h"

#include <algorithm>

#include "orchestrator/report/cells.h"
#include "orchestrator/report/provenance_columns.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/usable_bytes.h"

namespace rematch::report {

namespace {

using rules::NeededBytes;
using rules::UsableBytes;
using rules::UsableInterval;
using rules::UsableRow;

struct IntervalRow {
  std::string by;
  UsableInterval interval;
  std::optional<std::int64_t> capacity_bytes;
};

struct RestRow {
  std::string by;
  rules::UsableRest rest;
  std::optional<std::int64_t> capacity_bytes;
};

std::function<Cell(const UsableRow&)> of_needed(std::optional<NeededBytes> UsableRow::*needed, std::int64_t NeededBytes::*member) {
  return [needed, member](const UsableRow& row) { return row.*needed ? Cell{Bytes{(*(row.*needed)).*member}} : Cell{}; };
}

std::vector<ColumnOf<UsableRow>> row_columns(const OwnColumns& own) {
  return {
      {{"modules", "modules"}, [](const UsableRow& r) { return text_cell(r.arm); }},
      {{"published_got_through", "published: got through"}, [](const UsableRow& r) { return text_cell(r.at_least_over); }},
      {own.column("at_least_allocated_bytes", "at least, allocated"), of_needed(&UsableRow::at_least, &NeededBytes::allocated)},
      {own.column("at_least_reserved_bytes", "at least, reserved"), of_needed(&UsableRow::at_least, &NeededBytes::reserved)},
      {{"published_failing_iteration", "published: failed in iteration"},
       [](const UsableRow& r) { return cell_of<Count>(r.failing_iteration); }},
      {own.column("less_than_allocated_bytes", "less than, allocated"), of_needed(&UsableRow::less_than, &NeededBytes::allocated)},
      {own.column("less_than_reserved_bytes", "less than, reserved"), of_needed(&UsableRow::less_than, &NeededBytes::reserved)},
      {{"reason", "says nothing because"}, [](const UsableRow& r) { return text_cell(r.why_not); }},
  };
}

Cell place_cell(const rules::Bounds& bounds, const std::optional<std::int64_t>& capacity_bytes) {
  const std::optional<bool> inside = rules::is_inside(bounds, capacity_bytes);
  return inside ? text_cell(*inside ? "inside" : "outside") : Cell{};
}

Cell inside_cell(const IntervalRow& row) { return place_cell({row.interval.from_bytes, row.interval.below_bytes}, row.capacity_bytes); }

std::string joined(const std::vector<std::string>& arms) {
  std::string text;
  for (const std::string& arm : arms) text += (text.empty() ? "" : ", ") + arm;
  return text;
}

std::vector<ColumnOf<IntervalRow>> interval_columns() {
  return {
      {{"by", "by"}, [](const IntervalRow& r) { return text_cell(r.by); }},
      {{"from_bytes", "from"}, [](const IntervalRow& r) { return cell_of<Bytes>(r.interval.from_bytes); }},
      {{"from_arm", "to let pass"}, [](const IntervalRow& r) { return text_cell(r.interval.from_arm); }},
      {{"below_bytes", "to below"}, [](const IntervalRow& r) { return cell_of<Bytes>(r.interval.below_bytes); }},
      {{"below_arm", "to make fail"}, [](const IntervalRow& r) { return text_cell(r.interval.below_arm); }},
      {{"interval", "interval"}, [](const IntervalRow& r) { return text_cell(r.interval.is_empty ? "empty" : "not empty"); }},
      {{"contradicting", "contradicting"}, [](const IntervalRow& r) { return text_cell(joined(r.interval.contradicting)); }},
      {{"capacity_bytes", "assumed capacity"}, [](const IntervalRow& r) { return cell_of<Bytes>(r.capacity_bytes); }},
      {{"capacity_is", "which is"}, inside_cell},
  };
}

std::vector<ColumnOf<RestRow>> rest_columns() {
  return {
      {{"by", "by"}, [](const RestRow& r) { return text_cell(r.by); }},
      {{"without", "not explained"}, [](const RestRow& r) { return text_cell(joined(r.rest.without)); }},
      {{"from_bytes", "the others from"}, [](const RestRow& r) { return cell_of<Bytes>(r.rest.from_bytes); }},
      {{"below_bytes", "to below"}, [](const RestRow& r) { return cell_of<Bytes>(r.rest.below_bytes); }},
      {{"capacity_bytes", "assumed capacity"}, [](const RestRow& r) { return cell_of<Bytes>(r.capacity_bytes); }},
      {{"capacity_is", "which is"},
       [](const RestRow& r) {
         return place_cell({r.rest.from_bytes, r.rest.below_bytes}, r.capacity_bytes);
       }},
  };
}

std::vector<RestRow> rest_rows(const UsableBytes& usable) {
  std::vector<RestRow> rows;
  for (const rules::UsableRest& rest : usable.allocated_rests) rows.push_back({"allocated", rest, usable.capacity_bytes});
  for (const rules::UsableRest& rest : usable.reserved_rests) rows.push_back({"reserved", rest, usable.capacity_bytes});
  return rows;
}

bool has_bound(const UsableInterval& interval) { return interval.from_bytes || interval.below_bytes; }

bool has_limit(const base::StudyRows& study) {
  return std::any_of(study.plan.trials.begin(), study.plan.trials.end(),
                     [](const protocol::Trial& trial) { return trial.backend.memory_limit_bytes.has_value(); });
}

}  // namespace

std::vector<Table> usable_tables(const base::StudyRows& study, const protocol::Published& published) {
  const UsableBytes usable = rules::usable_bytes(study, published);
  const OwnColumns own(rules::provenance_of(study).value_or(protocol::Provenance::kPredicted));
  std::vector<UsableRow> rows;
  std::vector<IntervalRow> intervals;
  if (has_bound(usable.allocated)) {
    rows = usable.rows;
    intervals = {{"allocated", usable.allocated, usable.capacity_bytes}, {"reserved", usable.reserved, usable.capacity_bytes}};
  }
  return {table_of("usable_bytes", "Usable bytes that each published outcome asks for", row_columns(own), rows),
          table_of("usable_interval", "Usable bytes that all published outcomes leave", interval_columns(), intervals),
          table_of("usable_rests", "Usable bytes without the fewest rows that contradict the others, each choice of them", rest_columns(),
                   rest_rows(usable))};
}

std::vector<std::string> usable_notes(const base::StudyRows& study, const protocol::Published& published) {
  const UsableBytes usable = rules::usable_bytes(study, published);
  std::vector<std::string> notes;
  if (!has_bound(usable.allocated)) return notes;
  for (const auto& [by, interval] : {std::pair{"allocated", &usable.allocated}, std::pair{"reserved", &usable.reserved}})
    if (interval->is_empty)
      notes.push_back(
          "by " + std::string(by) +
          " bytes no capacity gives all published outcomes, so that bytes alone do not explain them; these contradict each other: " +
          joined(interval->contradicting));
  if (has_limit(study))
    notes.push_back(
        "the study ran with a memory limit: near it reserved bytes are fewer than without, and a run that failed says nothing of "
        "the peak of the step that it failed in");
  return notes;
}

}  // namespace rematch::report

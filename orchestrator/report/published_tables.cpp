#include "orchestrator/report/published_tables.h"

#include <algorithm>

#include "orchestrator/base/warnings.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/provenance_columns.h"
#include "orchestrator/report/usable_tables.h"
#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/published_match.h"
#include "orchestrator/rules/published_setting.h"

namespace rematch::report {

namespace {

using rules::ComparedDelta;
using rules::ComparedOutcome;
using rules::ComparedPeak;
using rules::ComparedRow;
using RowColumn = ColumnOf<ComparedRow>;

template <typename Get>
auto of_peak(Get get) {
  return of_part<ComparedRow, ComparedPeak>(&ComparedRow::peak, get);
}
template <typename Get>
auto of_delta(Get get) {
  return of_part<ComparedRow, ComparedDelta>(&ComparedRow::delta, get);
}

std::vector<RowColumn> peak_columns(const OwnColumns& own) {
  return {
      modules_column<ComparedRow>(),
      {{"after_iteration", "after iteration"}, of_peak([](const ComparedPeak& p) { return cell_of<Count>(p.after_iteration); })},
      {{"ranks", "of"}, of_peak([](const ComparedPeak& p) { return p.ranks ? text_cell(*p.ranks) : Cell{}; })},
      {{"published_peak_bytes", "published peak"}, of_peak([](const ComparedPeak& p) { return Cell{Bytes{p.published_bytes}}; })},
      {{"published_resolution_bytes", "resolution", Place::kDataOnly},
       of_peak([](const ComparedPeak& p) { return Cell{Bytes{p.resolution_bytes}}; })},
      {own.column("peak_bytes", "peak"), of_peak([](const ComparedPeak& p) { return cell_of<Bytes>(p.own_bytes); })},
      {{"error_bytes", "error"}, of_peak([](const ComparedPeak& p) { return cell_of<BytesDelta>(p.error_bytes); })},
      {{"error_fraction", "error"}, of_peak([](const ComparedPeak& p) { return cell_of<FractionDelta>(p.error_fraction); })},
      {own.column("rank", "rank"), of_peak([](const ComparedPeak& p) { return cell_of<Count>(p.own_rank); })},
      {own.column("binding_phase", "binding phase"), of_peak([](const ComparedPeak& p) { return name_cell(p.binding_phase); })},
      {own.column("floor_bytes", "floor"), of_peak([](const ComparedPeak& p) { return cell_of<Bytes>(p.floor_bytes); })},
      {{"floor_distance_bytes", "floor less published"},
       of_peak([](const ComparedPeak& p) { return cell_of<BytesDelta>(p.floor_distance_bytes); })},
      {{"published_may_be_floor", "published saving may be"},
       of_peak([](const ComparedPeak& p) { return p.own_bytes ? text_cell(p.censored ? "at least" : "as shown") : Cell{}; })},
      {{"no_counterpart", "not compared"}, of_peak([](const ComparedPeak& p) { return text_cell(p.no_counterpart); })},
  };
}

std::vector<RowColumn> delta_columns(const OwnColumns& own) {
  return {
      modules_column<ComparedRow>(),
      {{"against", "set against"}, of_delta([](const ComparedDelta& d) { return text_cell(d.against); })},
      {{"published_delta_bytes", "published diff"},
       of_delta([](const ComparedDelta& d) { return cell_of<BytesDelta>(d.published_bytes); })},
      {{"published_delta_fraction", "published diff"},
       of_delta([](const ComparedDelta& d) { return cell_of<FractionDelta>(d.published_fraction); })},
      {own.column("delta_bytes", "diff"), of_delta([](const ComparedDelta& d) { return cell_of<BytesDelta>(d.own_bytes); })},
      {own.column("delta_fraction", "diff"), of_delta([](const ComparedDelta& d) { return cell_of<FractionDelta>(d.own_fraction); })},
      {{"difference_bytes", "difference of the two"},
       of_delta([](const ComparedDelta& d) { return cell_of<BytesDelta>(d.difference_bytes); })},
      {own.column("held_delta_bytes", "held after fwd, diff"),
       of_delta([](const ComparedDelta& d) { return cell_of<BytesDelta>(d.held_bytes); })},
  };
}

Cell own_end(const ComparedRow& row) { return row.outcome.own ? name_cell(*row.outcome.own) : text_cell(row.outcome.no_counterpart); }

template <typename Get>
std::function<Cell(const ComparedRow&)> of_failure(Get get) {
  return [get](const ComparedRow& row) { return row.outcome.own_failure ? get(*row.outcome.own_failure) : Cell{}; };
}

std::vector<RowColumn> outcome_columns(const OwnColumns& own) {
  using base::Failure;
  return {
      modules_column<ComparedRow>(),
      {{"published_outcome", "published"}, [](const ComparedRow& r) { return name_cell(r.outcome.published); }},
      {{"published_iterations", "published iterations"},
       [](const ComparedRow& r) { return cell_of<Count>(r.outcome.published_iterations); }},
      {{"published_stage", "published stage"}, [](const ComparedRow& r) { return name_cell(r.outcome.published_stage); }},
      {{"published_requested_bytes", "published request"},
       [](const ComparedRow& r) { return cell_of<Bytes>(r.outcome.published_requested_bytes); }},
      {own.column("outcome", "outcome"), own_end},
      {own.column("iterations", "iterations"), [](const ComparedRow& r) { return cell_of<Count>(r.outcome.own_iterations); }},
      {own.column("stage", "stage"), of_failure([](const Failure& f) { return name_cell(f.stage); })},
      {own.column("phase", "phase"), of_failure([](const Failure& f) { return name_cell(f.phase); })},
      {own.column("rank", "rank"), of_failure([](const Failure& f) { return Cell{Count{f.rank}}; })},
      {own.column("requested_bytes", "request"), of_failure([](const Failure& f) { return cell_of<Bytes>(f.requested_bytes); })},
      {{"agreement", "agreement"}, [](const ComparedRow& r) { return name_cell(r.outcome.agreement); }},
      {{"published_evidence", "published evidence"}, [](const ComparedRow& r) { return text_cell(r.outcome.evidence); }},
  };
}

std::vector<RowColumn> left_out_columns() {
  return {
      {{"modules", "modules"}, [](const ComparedRow& r) { return text_cell(r.arm.empty() ? "not named" : r.arm); }},
      {{"description", "row"}, [](const ComparedRow& r) { return text_cell(r.description); }},
      {{"reason", "reason"}, [](const ComparedRow& r) { return text_cell(r.not_comparable); }},
  };
}

// Between what the source states and what the study ran.
Table setting_table(const base::StudyRows& study, const protocol::Published& published, const OwnColumns& own) {
  using rules::SettingDifference;
  const std::vector<ColumnOf<SettingDifference>> columns = {
      {{"field", "field"}, [](const SettingDifference& d) { return text_cell(d.field); }},
      {{"published", "published"}, [](const SettingDifference& d) { return text_cell(d.published); }},
      {own.column("value", "study"), [](const SettingDifference& d) { return text_cell(d.here); }},
  };
  std::vector<SettingDifference> differences;
  if (!study.plan.trials.empty()) differences = rules::setting_differences(published, study.plan.trials.front());
  return table_of("published_setting", "Where the published setting is another", columns, differences);
}

// Of a table that is refused: what one would want to know to match it.
Table not_stated_table(const protocol::Published& published, const std::string& refusal) {
  const std::vector<ColumnOf<std::string>> columns = {{{"field", "field"}, [](const std::string& field) { return text_cell(field); }}};
  return table_of("published_not_stated", "What the published source does not state", columns,
                  refusal.empty() ? std::vector<std::string>{} : rules::fields_not_stated(published));
}

template <typename Wanted>
std::vector<ComparedRow> chosen(const std::vector<ComparedRow>& rows, Wanted wanted) {
  std::vector<ComparedRow> some;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(some), wanted);
  return some;
}

std::vector<Table> comparison_tables(const base::StudyRows& study, const protocol::Published& published) {
  const std::vector<ComparedRow> rows = rules::compare_published(study, published);
  const OwnColumns own(rules::provenance_of(study).value_or(protocol::Provenance::kPredicted));
  const auto with_peak = chosen(rows, [](const ComparedRow& row) { return row.peak.has_value(); });
  const auto with_delta = chosen(rows, [](const ComparedRow& row) { return row.delta.has_value(); });
  const auto compared = chosen(rows, [](const ComparedRow& row) { return row.not_comparable.empty(); });
  const auto left_out = chosen(rows, [](const ComparedRow& row) { return !row.not_comparable.empty(); });
  return {table_of("published_peaks", own.title() + " against published: peak allocated", peak_columns(own), with_peak),
          table_of("published_deltas", own.title() + " against published: peak against another arm", delta_columns(own), with_delta),
          table_of("published_outcomes", own.title() + " against published: outcome", outcome_columns(own), compared),
          table_of("published_not_compared", "Published rows that are not compared", left_out_columns(), left_out),
          setting_table(study, published, own),
          not_stated_table(published, rules::published_refusal(study, published))};
}

std::vector<std::string> source_notes(const base::StudyRows& study, const protocol::Published& published) {
  const protocol::PublishedSource& source = published.source;
  std::string text = "published: " + source.title + "; " + source.section + "; " + source.hardware;
  if (source.date) text += "; " + *source.date;
  if (source.bridge_revision) text += "; Megatron Bridge " + *source.bridge_revision;
  if (source.core_revision) text += "; Megatron Core " + *source.core_revision;
  std::vector<std::string> notes = {text};
  if (const std::string refusal = rules::published_refusal(study, published); !refusal.empty())
    notes.push_back(base::with_id(base::WarningId::kPublishedNotComparable, "published: " + refusal));
  for (const std::string& remark : published.setting.remarks) notes.push_back("published: " + remark);
  return notes;
}

}  // namespace

ReportPart published_report(const base::StudyRows& study, const protocol::Published& published) {
  ReportPart report{comparison_tables(study, published), source_notes(study, published)};
  ReportPart usable = usable_report(study, published);
  std::move(usable.tables.begin(), usable.tables.end(), std::back_inserter(report.tables));
  std::move(usable.notes.begin(), usable.notes.end(), std::back_inserter(report.notes));
  std::erase_if(report.tables, [](const Table& table) { return table.rows.empty(); });
  return report;
}

}  // namespace rematch::report

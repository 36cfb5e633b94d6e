#include "orchestrator/report/comparison_report.h"

#include <algorithm>
#include <functional>

#include "orchestrator/base/joined_text.h"
#include "orchestrator/base/number_text.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/unmatched_table.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::report {

namespace {

using rules::SideComparison;
using rules::SideFigures;

std::string runs_text(const SideFigures& figures) {
  return std::to_string(figures.num_passed) + " of " + std::to_string(figures.num_runs) + (figures.num_runs == 1 ? " run" : " runs") +
         " passed";
}

Fact side_fact(const char* key, const std::string& name, base::Outcome outcome, const SideFigures& figures,
               const std::optional<protocol::Provenance>& provenance) {
  return {key, key,
          name + ": " + std::string(to_string(outcome)) + ", " + runs_text(figures) +
              (provenance ? ", " + std::string(protocol::to_string(*provenance)) : "")};
}

struct Figure {
  std::string name;
  Cell value;
  Cell against;
  Cell delta;
  Cell fraction;
};

template <typename Typed, typename TypedDelta, typename Number>
Figure figure_of(const SideComparison& pair, std::string name, std::optional<Number> SideFigures::*member) {
  const std::optional<Number>& value = pair.own.*member;
  const std::optional<Number>& other = pair.against.*member;
  Figure row{std::move(name), cell_of<Typed>(value), cell_of<Typed>(other), {}, {}};
  if (!pair.is_compared() || !value || !other) return row;
  row.delta = TypedDelta{*value - *other};
  row.fraction = cell_of<FractionDelta>(stats::difference_fraction(static_cast<double>(*value), static_cast<double>(*other)));
  return row;
}

std::vector<Figure> figures_of(const SideComparison& pair) {
  return {figure_of<Bytes, BytesDelta>(pair, "peak_allocated_bytes", &SideFigures::peak_allocated_bytes),
          figure_of<Bytes, BytesDelta>(pair, "peak_reserved_bytes", &SideFigures::peak_reserved_bytes),
          figure_of<Bytes, BytesDelta>(pair, "activation_peak_bytes", &SideFigures::activation_peak_bytes),
          figure_of<Nanoseconds, Nanoseconds>(pair, "step_time_ns", &SideFigures::step_time_ns)};
}

std::string memory_text(const SideComparison& pair) {
  if (!pair.memory) return "";
  if (pair.own.num_passed + pair.against.num_passed == 2) return "no word: one run of each, and no repeat that says how far they agree";
  return std::string(to_string(pair.memory->word)) + (pair.memory->low_bytes ? "" : "; repeats agree to the byte");
}

struct VariedRow {
  std::string arm;
  base::FieldDifference difference;
};

Table varied_table(const std::vector<SideComparison>& pairs) {
  std::vector<VariedRow> rows;
  for (const SideComparison& pair : pairs)
    for (const base::FieldDifference& difference : pair.varied) rows.push_back({pair.name, difference});
  const std::vector<ColumnOf<VariedRow>> columns = {
      {{"name", "of"}, [](const VariedRow& r) { return text_cell(r.arm); }},
      {{"field", "field"}, [](const VariedRow& r) { return text_cell(r.difference.field); }},
      {{"value", "value"}, [](const VariedRow& r) { return text_cell(r.difference.value); }},
      {{"against_value", "value of the other"}, [](const VariedRow& r) { return text_cell(r.difference.against_value); }},
  };
  return table_of("varied", "Varied on purpose", columns, rows);
}

// What differs, and what was said of it.
void add_differences(const std::vector<SideComparison>& pairs, ReportModel& model) {
  std::vector<base::Unmatched> unmatched;
  for (const SideComparison& pair : pairs) unmatched.insert(unmatched.end(), pair.unmatched.begin(), pair.unmatched.end());
  if (!unmatched.empty()) model.tables.push_back(unmatched_table(unmatched));
  if (Table varied = varied_table(pairs); !varied.rows.empty()) model.tables.push_back(std::move(varied));
  for (const SideComparison& pair : pairs)
    if (!pair.is_compared()) model.notes.push_back(pair.name + " against " + pair.against_name + " is refused: " + pair.refusal);
}

std::string mark_of(const SideComparison& pair) { return !pair.is_compared() ? "refused" : pair.unmatched.empty() ? "" : "unmatched"; }

Column in_data(const char* key, const char* title) { return {key, title, Place::kDataOnly}; }

template <typename Typed, typename Number>
ColumnOf<SideComparison> figure_column(Column column, SideFigures SideComparison::*side, std::optional<Number> SideFigures::*member) {
  return {std::move(column), [side, member](const SideComparison& p) { return cell_of<Typed>(p.*side.*member); }};
}

ColumnOf<SideComparison> delta_column(Column column, std::optional<std::int64_t> SideFigures::*member) {
  return {std::move(column), [member](const SideComparison& p) { return figure_of<Bytes, BytesDelta>(p, "", member).delta; }};
}

ColumnOf<SideComparison> fraction_column(Column column, std::optional<std::int64_t> SideFigures::*member) {
  return {std::move(column), [member](const SideComparison& p) { return figure_of<Bytes, BytesDelta>(p, "", member).fraction; }};
}

ColumnOf<SideComparison> time_column(Column column, std::function<std::optional<double>(const rules::TimeDifference&)> get) {
  return {std::move(column),
          [get = std::move(get)](const SideComparison& p) { return p.time ? cell_of<FractionDelta>(get(*p.time)) : Cell{}; }};
}

std::vector<ColumnOf<SideComparison>> memory_columns() {
  return {
      figure_column<Bytes>({"peak_allocated_bytes", "peak allocated"}, &SideComparison::own, &SideFigures::peak_allocated_bytes),
      figure_column<Bytes>({"against_peak_allocated_bytes", "of the other"}, &SideComparison::against, &SideFigures::peak_allocated_bytes),
      delta_column({"peak_delta_bytes", "diff"}, &SideFigures::peak_allocated_bytes),
      fraction_column({"peak_delta_fraction", "diff"}, &SideFigures::peak_allocated_bytes),
      {{"memory_verdict", "memory"}, [](const SideComparison& p) { return p.memory ? name_cell(p.memory->word) : Cell{}; }},
      figure_column<Bytes>(in_data("peak_reserved_bytes", "peak reserved"), &SideComparison::own, &SideFigures::peak_reserved_bytes),
      figure_column<Bytes>(in_data("against_peak_reserved_bytes", "of the other"), &SideComparison::against,
                           &SideFigures::peak_reserved_bytes),
      delta_column({"reserved_delta_bytes", "reserved diff"}, &SideFigures::peak_reserved_bytes),
      delta_column({"activation_delta_bytes", "activation diff"}, &SideFigures::activation_peak_bytes),
  };
}

std::vector<ColumnOf<SideComparison>> time_columns() {
  return {
      figure_column<Nanoseconds>({"step_time_ns", "step time"}, &SideComparison::own, &SideFigures::step_time_ns),
      figure_column<Nanoseconds>({"against_step_time_ns", "of the other"}, &SideComparison::against, &SideFigures::step_time_ns),
      time_column(in_data("time_fraction", "time"), [](const rules::TimeDifference& t) { return std::optional(t.fraction); }),
      time_column(in_data("time_low_fraction", "low"), [](const rules::TimeDifference& t) { return t.low; }),
      time_column(in_data("time_high_fraction", "high"), [](const rules::TimeDifference& t) { return t.high; }),
      {in_data("time_verdict", "time"), [](const SideComparison& p) { return p.time ? name_cell(p.time->word) : Cell{}; }},
      {{"time", "time", Place::kTextOnly}, [](const SideComparison& p) { return text_cell(time_text(p)); }},
  };
}

std::vector<ColumnOf<SideComparison>> arm_columns() {
  std::vector<ColumnOf<SideComparison>> columns = {
      {{"modules", "modules"}, [](const SideComparison& p) { return text_cell(p.name); }},
      {{"comparison", "comparison"}, [](const SideComparison& p) { return text_cell(mark_of(p)); }},
      {{"outcome", "outcome"}, [](const SideComparison& p) { return name_cell(p.outcome); }},
      {{"against_outcome", "of the other"}, [](const SideComparison& p) { return name_cell(p.against_outcome); }},
      {{"num_runs", "runs"}, [](const SideComparison& p) { return Cell{Count{p.own.num_passed}}; }},
      {{"against_num_runs", "of the other"}, [](const SideComparison& p) { return Cell{Count{p.against.num_passed}}; }},
  };
  for (auto& column : memory_columns()) columns.push_back(std::move(column));
  for (auto& column : time_columns()) columns.push_back(std::move(column));
  return columns;
}

std::string title_mark(bool refused, bool unmatched) { return refused ? " (refused: unmatched)" : unmatched ? " (unmatched)" : ""; }

}  // namespace

std::string time_text(const SideComparison& pair) {
  if (!pair.time) return "";
  const rules::TimeDifference& time = *pair.time;
  const std::string difference = base::percent_text(time.fraction);
  if (!time.low)
    return difference + ", no interval: " + std::to_string(pair.own.num_passed) + " against " + std::to_string(pair.against.num_passed) +
           (pair.against.num_passed == 1 ? " run" : " runs");
  return difference + " [" + base::percent_text(*time.low) + ", " + base::percent_text(*time.high) + "] " +
         std::string(to_string(*time.word));
}

ReportModel make_comparison_report(const SideComparison& pair) {
  ReportModel model;
  model.title = pair.name + " against " + pair.against_name + title_mark(!pair.is_compared(), !pair.unmatched.empty());
  model.header = {side_fact("value", pair.name, pair.outcome, pair.own, pair.provenance),
                  side_fact("against", pair.against_name, pair.against_outcome, pair.against, pair.against_provenance)};
  const std::vector<ColumnOf<Figure>> columns = {
      {{"figure", "figure"}, [](const Figure& f) { return text_cell(f.name); }},
      {{"value", "value"}, [](const Figure& f) { return f.value; }},
      {{"against", "against"}, [](const Figure& f) { return f.against; }},
      {{"delta", "diff"}, [](const Figure& f) { return f.delta; }},
      {{"delta_fraction", "diff"}, [](const Figure& f) { return f.fraction; }},
  };
  model.tables.push_back(table_of("comparison", "Figures of each", columns, figures_of(pair)));
  model.tables.back().in_csv = true;
  if (const std::string memory = memory_text(pair); !memory.empty()) model.answer.push_back({"memory", "memory", memory});
  if (const std::string time = time_text(pair); !time.empty()) model.answer.push_back({"time", "time", time});
  add_differences({pair}, model);
  return model;
}

ReportModel make_studies_report(const ComparedStudies& studies) {
  const auto is_refused = [](const SideComparison& p) { return !p.is_compared(); };
  const auto is_forced = [](const SideComparison& p) { return p.is_compared() && !p.unmatched.empty(); };
  const auto& arms = studies.arms;
  ReportModel model;
  model.title = studies.name + " against " + studies.against_name +
                title_mark(std::any_of(arms.begin(), arms.end(), is_refused), std::any_of(arms.begin(), arms.end(), is_forced));
  model.header = {{"value", "value", studies.name}, {"against", "against", studies.against_name}};
  const auto provenance_of = [&](std::optional<protocol::Provenance> SideComparison::*member) {
    const auto known = std::find_if(arms.begin(), arms.end(), [&](const SideComparison& p) { return (p.*member).has_value(); });
    return known == arms.end() ? Cell{} : name_cell(*known.*member);
  };
  model.header.push_back({"provenance", "provenance", provenance_of(&SideComparison::provenance)});
  model.header.push_back({"against_provenance", "provenance of the other", provenance_of(&SideComparison::against_provenance)});
  Table table = table_of("comparison", "Arms of both", arm_columns(), arms);
  table.in_csv = true;
  model.tables.push_back(std::move(table));
  add_differences(arms, model);
  if (!studies.only_own.empty()) model.notes.push_back("Only " + studies.name + " has " + base::joined(studies.only_own));
  if (!studies.only_against.empty()) model.notes.push_back("Only " + studies.against_name + " has " + base::joined(studies.only_against));
  return model;
}

}  // namespace rematch::report

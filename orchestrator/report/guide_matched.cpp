#include "orchestrator/base/predicted.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/guide_tables.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::report {

namespace {

struct Row {
  const base::ArmVerdict* arm = nullptr;
  std::string modules;
  std::string result;  // of all but a pass
  rules::GuideFigures figures;
  std::optional<double> step_time_ns;  // of a prediction its estimate
  std::optional<double> peak_delta_fraction;
  std::optional<double> time_delta_fraction;
};

using RowColumn = ColumnOf<Row>;

std::optional<double> as_double(const std::optional<std::int64_t>& bytes) {
  return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
}

std::optional<double> step_time_of(const base::ArmVerdict& arm, const rules::GuideFigures& figures) {
  if (!arm.figures || !arm.figures->estimate) return figures.window.step_time_ns;
  return arm.figures->estimate->time_ns;
}

std::vector<Row> rows_of(const GuideContext& context) {
  std::vector<Row> rows;
  for (const base::ArmVerdict* arm : context.group.arms) {
    Row row{arm, guide_modules(context, *arm), {}, {}, {}, {}, {}};
    if (arm->outcome != base::Outcome::kPass) row.result = guide_result(context, *arm);
    if (arm->figures)
      row.figures = rules::guide_figures(context.study, context.verdict, arm->arm, {rules::kGuideRanks, rules::kGuideWindow});
    row.step_time_ns = step_time_of(*arm, row.figures);
    rows.push_back(std::move(row));
  }
  return rows;
}

// Only of what may be compared: the rules give an effect against the control then.
void add_differences(std::vector<Row>& rows) {
  for (Row& row : rows) {
    if (!row.arm->effect || !row.arm->effect->against_control || !row.arm->not_comparable.empty()) continue;
    for (const Row& control : rows) {
      if (control.arm->arm != row.arm->effect->against) continue;
      row.peak_delta_fraction =
          stats::difference_fraction(as_double(row.figures.peak_allocated_bytes), as_double(control.figures.peak_allocated_bytes));
      row.time_delta_fraction = stats::difference_fraction(row.step_time_ns, control.step_time_ns);
    }
  }
}

// As data the number alone; for people the control's row says that it is the control.
std::vector<RowColumn> difference_columns(const ArmGroup& group, const std::string& key, const std::string& title,
                                          std::optional<double> Row::*fraction) {
  return {{guide_column(group, key, title, Place::kDataOnly), [fraction](const Row& row) { return cell_of<FractionDelta>(row.*fraction); }},
          {guide_column(group, key + "_text", title, Place::kTextOnly), [fraction](const Row& row) {
             return row.arm->is_control && row.arm->figures ? Cell{"control"} : cell_of<FractionDelta>(row.*fraction);
           }}};
}

std::vector<RowColumn> time_columns(const ArmGroup& group) {
  const auto time = [](const Row& row) { return cell_of<PlainMilliseconds>(row.step_time_ns); };
  if (group.provenance == protocol::Provenance::kPredicted)
    return {{guide_column(group, "estimated_step_time_ns", "Step time, estimated (ms)"), time}};
  return {{guide_column(group, "window_step_time_ns", "Step time (ms)"), time},
          {guide_column(group, "window_tflops_per_rank", "TFLOP/s/GPU"),
           [](const Row& row) { return cell_of<Teraflops>(row.figures.window.tflops_per_rank); }}};
}

}  // namespace

Table guide_matched_table(const GuideContext& context) {
  std::vector<Row> rows = rows_of(context);
  add_differences(rows);
  const ArmGroup& group = context.group;
  std::vector<RowColumn> columns = {{{"modules", "Selected modules"}, [](const Row& row) { return text_cell(row.modules); }},
                                    {guide_column(group, "result", "Result"), [](const Row& row) { return text_cell(row.result); }},
                                    {guide_column(group, "peak_allocated_bytes", "Peak allocated (GB)"),
                                     [](const Row& row) { return cell_of<PlainGigabytes>(row.figures.peak_allocated_bytes); }}};
  const auto add = [&](const std::vector<RowColumn>& more) { columns.insert(columns.end(), more.begin(), more.end()); };
  add(time_columns(group));
  add(difference_columns(group, "peak_delta_fraction", "Allocated against []", &Row::peak_delta_fraction));
  add(difference_columns(group, "time_delta_fraction", "Time against []", &Row::time_delta_fraction));
  const std::string kind = group.provenance ? std::string(protocol::to_string(*group.provenance)) : "nothing recorded yet";
  Table table = table_of("guide_matched", title_of("Matched runs, " + kind, *group.group), columns, rows);
  table.in_csv = true;
  return table;
}

}  // namespace rematch::report

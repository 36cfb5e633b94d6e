#include "orchestrator/report/bytes_text.h"
#include "orchestrator/report/cell_text.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/guide_tables.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::report {

namespace {

constexpr const char* kNotComparable = "not comparable";

struct Row {
  const base::ArmVerdict* arm = nullptr;
  std::string modules;
  std::string result;
  std::optional<std::int64_t> num_iterations;
  std::optional<std::int64_t> after_iteration;
  std::optional<std::int64_t> peak_bytes;  // of rank 0
  std::string against;
  std::optional<std::int64_t> peak_delta_bytes;
  std::optional<double> peak_delta_fraction;
  rules::WindowFigures window;
  std::optional<rules::StepWindow> steps;  // of the window's figures
  std::optional<double> time_delta_fraction;
  std::string evidence;
};

using RowColumn = ColumnOf<Row>;

std::string gigabytes_text(std::int64_t bytes) { return display_text(PlainGigabytes{bytes}, ByteUnits::kGB) + " GB"; }

std::string difference_text(const Row& row, const std::string& other) {
  if (!row.peak_delta_bytes || !row.peak_delta_fraction) return "";
  if (*row.peak_delta_bytes == 0) return "the peak of " + other + "; ";
  const bool is_less = *row.peak_delta_bytes < 0;
  const std::int64_t bytes = is_less ? -*row.peak_delta_bytes : *row.peak_delta_bytes;
  const double fraction = is_less ? -*row.peak_delta_fraction : *row.peak_delta_fraction;
  return bytes_text(bytes, ByteUnits::kGB) + " (" + display_text(Fraction{fraction}, ByteUnits::kGB) + ")" +
         (is_less ? " below " : " above ") + other + "; ";
}

std::string failure_text(const base::Failure& failure) {
  const auto bytes = [](const char* what, const std::optional<std::int64_t>& number) {
    return number ? ", " + bytes_text(*number, ByteUnits::kGB) + what : "";
  };
  std::string text = failure.phase ? std::string(protocol::to_string(*failure.phase)) : std::string(protocol::to_string(failure.stage));
  if (failure.step) text += " of iteration " + std::to_string(*failure.step + 1);
  text += " on rank " + std::to_string(failure.rank);
  if (failure.kind != protocol::FailureKind::kOom) return text + ": " + failure.message;
  return text + bytes(" requested", failure.requested_bytes) + bytes(" allocated", failure.allocated_bytes) +
         bytes(" reserved", failure.reserved_bytes) + bytes(" to be had", failure.capacity_bytes);
}

void add_failure(const GuideContext& context, const std::string& control, Row& row) {
  const std::optional<rules::GuideFailure> failure = rules::guide_failure(context.study, row.arm->arm, control);
  if (failure) row.num_iterations = failure->num_iterations;
  const bool is_comparable = failure && failure->peak_allocated_bytes && (row.arm->is_control || failure->peak_delta_bytes);
  row.against = row.arm->is_control ? "" : is_comparable ? control + ", not a pass" : kNotComparable;
  if (is_comparable) {
    row.after_iteration = failure->after_iteration;
    row.peak_bytes = failure->peak_allocated_bytes;
    row.peak_delta_bytes = failure->peak_delta_bytes;
    row.peak_delta_fraction = failure->peak_delta_fraction;
  }
  row.evidence = difference_text(row, "the control") + (row.arm->failure ? failure_text(*row.arm->failure) : row.arm->reason);
}

std::string steady_text(const rules::WindowFigures& window, const std::optional<rules::StepWindow>& steps) {
  if (!steps || !window.step_time_ns) return "";
  const std::string rate =
      window.tflops_per_rank ? ", " + display_text(Teraflops{*window.tflops_per_rank}, ByteUnits::kGB) + " TFLOP/s/GPU" : "";
  return iterations_text(*steps) + ": " + display_text(PlainMilliseconds{*window.step_time_ns}, ByteUnits::kGB) + " ms" + rate;
}

void add_pass(const GuideContext& context, Row& row) {
  const auto steps = capacity_window(context.study.plan);
  const rules::GuideFigures figures =
      rules::guide_figures(context.study, context.verdict, row.arm->arm, {"rank 0", steps.value_or(rules::kGuideWindow)});
  if (figures.peak_allocated_bytes) row.after_iteration = rules::kGuidePeakIteration;
  row.peak_bytes = figures.peak_allocated_bytes;
  if (steps) row.window = figures.window;
  if (row.window.step_time_ns) row.steps = steps;
  row.evidence = steady_text(row.window, steps);
}

// Of passing arms: against the narrowest that passes.
void add_reference(const std::vector<Row>& rows, Row& row) {
  if (!row.arm->effect || !row.arm->not_comparable.empty()) return;
  for (const Row& other : rows) {
    if (other.arm->arm != row.arm->effect->against) continue;
    row.against = other.modules + " (reference, not control)";
    if (row.peak_bytes && other.peak_bytes) {
      row.peak_delta_bytes = *row.peak_bytes - *other.peak_bytes;
      row.peak_delta_fraction = stats::difference_fraction(static_cast<double>(*row.peak_bytes), static_cast<double>(*other.peak_bytes));
    }
    row.time_delta_fraction = stats::difference_fraction(row.window.step_time_ns, other.window.step_time_ns);
    row.evidence = difference_text(row, other.modules) + row.evidence;
    return;
  }
}

std::vector<Row> rows_of(const GuideContext& context) {
  std::string control;
  for (const base::ArmVerdict& arm : context.verdict.arms)
    if (arm.is_control && arm.group_id == context.group.group->group_id) control = arm.arm;
  std::vector<Row> rows;
  for (const base::ArmVerdict* arm : context.group.arms) {
    Row& row = rows.emplace_back();
    row.arm = arm;
    row.modules = guide_modules(context, *arm);
    row.result = guide_result(context, *arm);
    if (arm->figures)
      add_pass(context, row);
    else if (arm->outcome == base::Outcome::kFail)
      add_failure(context, control, row);
    else
      row.evidence = arm->reason;
  }
  for (Row& row : rows)
    if (row.arm->figures) add_reference(rows, row);
  return rows;
}

Cell peak_text(const Row& row) {
  if (row.peak_bytes && row.after_iteration)
    return gigabytes_text(*row.peak_bytes) + " after iteration " + std::to_string(*row.after_iteration);
  return row.against == kNotComparable ? Cell{kNotComparable} : Cell{};
}

std::vector<RowColumn> peak_columns(const ArmGroup& group) {
  const bool is_measured = group.provenance == protocol::Provenance::kMeasured;
  return {
      {guide_column(group, "rank_0_peak_text", is_measured ? "Measured peak of rank 0" : "peak of rank 0", Place::kTextOnly), peak_text},
      {guide_column(group, "num_iterations", "iterations", Place::kDataOnly),
       [](const Row& row) { return cell_of<Count>(row.num_iterations); }},
      {guide_column(group, "after_iteration", "after iteration", Place::kDataOnly),
       [](const Row& row) { return cell_of<Count>(row.after_iteration); }},
      {guide_column(group, "rank_0_peak_allocated_bytes", "peak of rank 0 (GB)", Place::kDataOnly),
       [](const Row& row) { return cell_of<PlainGigabytes>(row.peak_bytes); }},
      {guide_column(group, "peak_delta_bytes", "peak diff", Place::kDataOnly),
       [](const Row& row) { return cell_of<BytesDelta>(row.peak_delta_bytes); }},
      {guide_column(group, "peak_delta_fraction", "Peak against that"),
       [](const Row& row) { return cell_of<FractionDelta>(row.peak_delta_fraction); }}};
}

std::vector<RowColumn> time_columns(const ArmGroup& group) {
  if (group.provenance == protocol::Provenance::kPredicted) return {};
  return {{guide_column(group, "window_step_time_ns", "step time (ms)", Place::kDataOnly),
           [](const Row& row) { return cell_of<PlainMilliseconds>(row.window.step_time_ns); }},
          {guide_column(group, "window_tflops_per_rank", "TFLOP/s/GPU", Place::kDataOnly),
           [](const Row& row) { return cell_of<Teraflops>(row.window.tflops_per_rank); }},
          {guide_column(group, "first_iteration", "first iteration", Place::kDataOnly),
           [](const Row& row) { return row.steps ? Cell{Count{static_cast<std::int64_t>(row.steps->begin) + 1}} : Cell{}; }},
          {guide_column(group, "last_iteration", "last iteration", Place::kDataOnly),
           [](const Row& row) { return row.steps ? Cell{Count{static_cast<std::int64_t>(row.steps->end)}} : Cell{}; }},
          {guide_column(group, "time_delta_fraction", "Time against that"),
           [](const Row& row) { return cell_of<FractionDelta>(row.time_delta_fraction); }}};
}

}  // namespace

Table guide_capacity_table(const GuideContext& context) {
  const ArmGroup& group = context.group;
  std::vector<RowColumn> columns = {{{"modules", "Selected modules"}, [](const Row& row) { return text_cell(row.modules); }},
                                    {guide_column(group, "result", "Result"), [](const Row& row) { return text_cell(row.result); }}};
  const auto add = [&](const std::vector<RowColumn>& more) { columns.insert(columns.end(), more.begin(), more.end()); };
  add(peak_columns(group));
  add(time_columns(group));
  add({{{"against", "Set against"}, [](const Row& row) { return text_cell(row.against); }},
       {guide_column(group, "evidence", "Failure or steady-state evidence"), [](const Row& row) { return text_cell(row.evidence); }}});
  const std::string kind = group.provenance ? std::string(protocol::to_string(*group.provenance)) : "nothing recorded yet";
  Table table = table_of("guide_capacity", title_of("The control does not fit, " + kind, *group.group), columns, rows_of(context));
  table.in_csv = true;
  return table;
}

}  // namespace rematch::report

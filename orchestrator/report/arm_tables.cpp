#include "orchestrator/report/arm_tables.h"

#include <algorithm>
#include <optional>
#include <string>

#include "orchestrator/report/arm_columns.h"
#include "orchestrator/report/arm_groups.h"
#include "orchestrator/report/verdict_text.h"

namespace rematch::report {

namespace {

using base::ArmVerdict;

const base::GroupVerdict& group_of(const base::StudyVerdict& verdict, const ArmVerdict& arm) {
  return *std::find_if(verdict.groups.begin(), verdict.groups.end(), [&](const auto& group) { return group.group_id == arm.group_id; });
}

}  // namespace

std::vector<Table> arm_tables(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<Table> tables;
  for (const ArmGroup& part : arm_groups(verdict)) {
    std::vector<ArmContext> rows;
    for (const ArmVerdict* arm : part.arms) rows.push_back({arm, &study.plan, largest_aa_fraction(*part.group)});
    tables.push_back(table_of("arms", title_of("Arms", *part.group), main_columns(part.provenance), rows));
    tables.back().in_csv = true;
  }
  return tables;
}

Table failed_arms_table(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<ArmContext> rows;
  for (const ArmVerdict& arm : verdict.arms)
    if (arm.failure) rows.push_back({&arm, &study.plan, std::nullopt});
  Table table = table_of("failed_arms", "Failed arms", failure_columns(study.plan), rows);
  table.place = Place::kTextOnly;  // the main table has these columns as data
  return table;
}

Table reasons_table(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<ArmContext> rows;
  for (const ArmVerdict& arm : verdict.arms)
    if (!arm.figures && !arm.failure && is_shown(verdict, group_of(verdict, arm))) rows.push_back({&arm, &study.plan, std::nullopt});
  Table table = table_of("arms_without_figures", "Arms without figures", reason_columns(), rows);
  table.place = Place::kTextOnly;
  return table;
}

std::vector<Table> control_pairs_tables(const base::StudyVerdict& verdict) {
  using base::ControlPair;
  const std::vector<ColumnOf<ControlPair>> columns = {
      {{"block", "block"}, [](const ControlPair& pair) { return Cell{Count{pair.block}}; }},
      {{"time_difference_fraction", "time diff"},
       [](const ControlPair& pair) { return Cell{FractionDelta{pair.time_difference_fraction}}; }},
  };
  std::vector<Table> tables;
  for (const base::GroupVerdict& group : verdict.groups)
    tables.push_back(
        table_of("control_pairs", title_of("A/A: the later control of a block over the earlier", group), columns, group.control_pairs));
  return tables;
}

Table time_fits_table(const base::StudyVerdict& verdict) {
  using base::GroupVerdict;
  using base::TimeFit;
  const auto of_fit = [](auto get) { return of_part<GroupVerdict, TimeFit>(&GroupVerdict::fit, get); };
  const std::vector<ColumnOf<GroupVerdict>> columns = {
      {{"group_id", "group id"}, [](const GroupVerdict& group) { return text_cell(group.group_id); }},
      {{"num_runs", "runs"}, of_fit([](const TimeFit& fit) { return Cell{Count{fit.num_runs}}; })},
      {{"degrees_of_freedom", "degrees of freedom"}, of_fit([](const TimeFit& fit) { return Cell{Count{fit.degrees_of_freedom}}; })},
      {{"residual_sd", "noise of a run"}, of_fit([](const TimeFit& fit) { return Cell{Number{nine_digits(fit.residual_sd)}}; })},
      {{"critical_value", "critical value"}, of_fit([](const TimeFit& fit) { return Cell{Number{nine_digits(fit.critical_value)}}; })},
      {{"confidence", "confidence"}, of_fit([](const TimeFit& fit) { return Cell{Fraction{nine_digits(fit.confidence)}}; })},
      {{"drift_per_slot", "drift a slot"}, of_fit([](const TimeFit& fit) { return Cell{Number{nine_digits(fit.drift_per_slot)}}; })},
      {{"drift_p_value", "p of the drift"}, of_fit([](const TimeFit& fit) { return Cell{Number{nine_digits(fit.drift_p_value)}}; })},
      {{"aa_time_difference_fraction", "A/A"},
       [](const GroupVerdict& group) { return cell_of<FractionDelta>(largest_aa_fraction(group)); }},
  };
  std::vector<GroupVerdict> fitted;
  for (const GroupVerdict& group : verdict.groups)
    if (group.fit) fitted.push_back(group);
  Table table = table_of("time_fits", "Fits of step times", columns, fitted);
  table.place = Place::kDataOnly;
  return table;
}

}  // namespace rematch::report

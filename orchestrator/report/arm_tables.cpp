#include "orchestrator/report/arm_tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "orchestrator/report/arm_columns.h"

namespace rematch::report {

namespace {

using base::ArmVerdict;
using protocol::Provenance;

std::optional<double> largest_aa_fraction(const base::StudyVerdict& verdict) {
  std::optional<double> largest;
  for (const base::ControlPair& pair : verdict.control_pairs)
    if (!largest || std::abs(pair.time_difference_fraction) > std::abs(*largest)) largest = pair.time_difference_fraction;
  return largest;
}

std::vector<ArmContext> contexts_of(const base::StudyRows& study, const base::StudyVerdict& verdict, bool (*wanted)(const ArmVerdict&)) {
  std::vector<ArmContext> rows;
  for (const ArmVerdict& arm : verdict.arms)
    if (wanted(arm)) rows.push_back({&arm, &study.plan, std::nullopt});
  return rows;
}

}  // namespace

std::vector<Table> arm_tables(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<protocol::Provenance> provenances;
  for (const ArmVerdict& arm : verdict.arms)
    if (arm.provenance && std::count(provenances.begin(), provenances.end(), *arm.provenance) == 0) provenances.push_back(*arm.provenance);
  std::vector<Table> tables;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, provenances.size()); ++i) {
    const std::optional<Provenance> provenance = provenances.empty() ? std::nullopt : std::optional(provenances[i]);
    std::vector<ArmContext> rows;
    for (const ArmVerdict& arm : verdict.arms)
      if (arm.provenance ? arm.provenance == provenances[i] : i == 0) rows.push_back({&arm, &study.plan, largest_aa_fraction(verdict)});
    tables.push_back(table_of("arms", "Arms", main_columns(provenance), rows));
    tables.back().in_csv = true;
  }
  return tables;
}

Table failed_arms_table(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  auto failed = [](const ArmVerdict& arm) { return arm.failure.has_value(); };
  Table table = table_of("failed_arms", "Failed arms", failure_columns(study.plan), contexts_of(study, verdict, failed));
  table.place = Place::kTextOnly;  // the main table has these columns as data
  return table;
}

Table reasons_table(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  auto without_figures = [](const ArmVerdict& arm) { return !arm.figures && !arm.failure; };
  Table table = table_of("arms_without_figures", "Arms without figures", reason_columns(), contexts_of(study, verdict, without_figures));
  table.place = Place::kTextOnly;
  return table;
}

Table control_pairs_table(const base::StudyVerdict& verdict) {
  using base::ControlPair;
  const std::vector<ColumnOf<ControlPair>> columns = {
      {{"block", "block"}, [](const ControlPair& pair) { return Cell{Count{pair.block}}; }},
      {{"time_difference_fraction", "time diff"},
       [](const ControlPair& pair) { return Cell{FractionDelta{pair.time_difference_fraction}}; }},
  };
  return table_of("control_pairs", "A/A: the later control of a block over the earlier", columns, verdict.control_pairs);
}

}  // namespace rematch::report

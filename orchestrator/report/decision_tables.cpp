#include "orchestrator/report/decision_tables.h"

#include <cmath>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/report/cells.h"

namespace rematch::report {

namespace {

using base::Decision;
using base::Interaction;

Cell bytes_cell(const std::optional<double>& bytes) {
  return bytes ? Cell{BytesDelta{static_cast<std::int64_t>(std::llround(*bytes))}} : Cell{};
}

// Of log step time as a fraction: what the pair's time has beyond the product of its labels' ratios.
Cell time_cell(const std::optional<double>& log_time) { return log_time ? Cell{FractionDelta{std::expm1(*log_time)}} : Cell{}; }

template <typename Get>
auto of_time(Get get) {
  return [get](const Interaction& pair) { return pair.log_time ? time_cell(get(*pair.log_time)) : Cell{}; };
}

}  // namespace

Table decisions_table(const base::StudyPlan& plan) {
  const std::vector<ColumnOf<Decision>> columns = {
      {{"study", "study", Place::kDataOnly}, [&](const Decision&) { return text_cell(plan.name); }},
      {{"study_id", "study id", Place::kDataOnly}, [&](const Decision&) { return text_cell(plan.study_id); }},
      {{"round", "round"}, [](const Decision& d) { return Cell{Count{d.round}}; }},
      {{"action", "action"}, [](const Decision& d) { return text_cell(to_string(d.action)); }},
      modules_column<Decision>(),
      {{"reason", "reason"}, [](const Decision& d) { return text_cell(d.reason); }},
  };
  Table table = table_of("decisions", "Decisions of strategy " + plan.strategy, columns, plan.decisions);
  table.in_csv = true;
  return table;
}

Table interactions_table(const base::StudyVerdict& verdict) {
  using base::MeanDifference;
  const std::vector<ColumnOf<Interaction>> columns = {
      modules_column<Interaction>(),
      {{"activation_interaction_bytes", "act. peak beyond the sum"},
       [](const Interaction& pair) { return bytes_cell(pair.activation_bytes.value); }},
      {{"activation_interaction_low_bytes", "95 % from"}, [](const Interaction& pair) { return bytes_cell(pair.activation_bytes.low); }},
      {{"activation_interaction_high_bytes", "to"}, [](const Interaction& pair) { return bytes_cell(pair.activation_bytes.high); }},
      {{"time_interaction_fraction", "time beyond the sum"}, of_time([](const MeanDifference& d) { return std::optional(d.value); })},
      {{"time_interaction_low_fraction", "95 % from"}, of_time([](const MeanDifference& d) { return d.low; })},
      {{"time_interaction_high_fraction", "to"}, of_time([](const MeanDifference& d) { return d.high; })},
  };
  return table_of("interactions", "Pairs: what they do beyond the sum of their labels", columns, verdict.interactions);
}

}  // namespace rematch::report

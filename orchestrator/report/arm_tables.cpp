#include "orchestrator/report/arm_tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "orchestrator/report/cells.h"
#include "orchestrator/report/outcome_cell.h"
#include "orchestrator/rules/moved_failure.h"

namespace rematch::report {

namespace {

using base::ArmFigures;
using base::ArmVerdict;
using base::Effect;
using base::Failure;

struct ArmContext {
  const ArmVerdict* arm;
  const base::StudyPlan* plan;
  std::optional<double> aa_fraction;  // the largest A/A difference, to be read beside a difference in time
};

using ArmColumn = ColumnOf<ArmContext>;

// A column of something that an arm may lack as a whole.
template <typename Part, typename Get>
std::function<Cell(const ArmContext&)> of_part(const std::optional<Part> ArmVerdict::*part, Get get) {
  return [part, get](const ArmContext& context) { return context.arm->*part ? get(*(context.arm->*part)) : Cell{}; };
}
template <typename Get>
auto of_figures(Get get) {
  return of_part<ArmFigures>(&ArmVerdict::figures, get);
}
template <typename Get>
auto of_effect(Get get) {
  return of_part<Effect>(&ArmVerdict::effect, get);
}
template <typename Get>
auto of_failure(Get get) {
  return of_part<Failure>(&ArmVerdict::failure, get);
}

using protocol::Provenance;
using Columns = std::vector<ArmColumn>;

// What a table of this provenance has no column for: a prediction has no repeats and no time of its own.
Columns unless_predicted(std::optional<Provenance> provenance, Columns columns) {
  return provenance == Provenance::kPredicted ? Columns{} : columns;
}
Columns if_predicted(std::optional<Provenance> provenance, Columns columns) {
  return provenance == Provenance::kPredicted ? columns : Columns{};
}

Columns joined(std::vector<Columns> parts) {
  Columns all;
  for (Columns& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Cell alike_cell(const ArmContext& context, std::int64_t rank) { return Count{base::num_alike(context.plan->trials.front(), rank)}; }

Columns identity_columns() {
  return {
      {{"study", "study", Place::kDataOnly}, [](const ArmContext& c) { return text_cell(c.plan->name); }},
      {{"study_id", "study id", Place::kDataOnly}, [](const ArmContext& c) { return text_cell(c.plan->study_id); }},
      {{"modules", "modules"}, [](const ArmContext& c) { return text_cell(c.arm->arm); }},
      {{"outcome", "outcome"}, [](const ArmContext& c) { return outcome_cell(c.arm->outcome, *c.plan); }},
  };
}

Columns repeat_columns() {
  return {
      {{"runs_passed", "runs passed", Place::kDataOnly}, [](const ArmContext& c) { return Cell{Count{c.arm->num_passed}}; }},
      {{"runs_judged", "runs judged", Place::kDataOnly}, [](const ArmContext& c) { return Cell{Count{c.arm->num_judged}}; }},
      {{"runs_planned", "runs planned", Place::kDataOnly}, [](const ArmContext& c) { return Cell{Count{c.arm->num_planned}}; }},
      {{"runs", "runs", Place::kTextOnly},
       [](const ArmContext& c) {
         return c.arm->num_judged == 0 ? Cell{} : Cell{std::to_string(c.arm->num_passed) + "/" + std::to_string(c.arm->num_judged)};
       }},
  };
}

Columns memory_columns() {
  return {
      {{"provenance", "provenance"}, [](const ArmContext& c) { return name_cell(c.arm->provenance); }},
      {{"peak_allocated_bytes", "peak allocated"}, of_figures([](const ArmFigures& f) { return Cell{Bytes{f.hot.allocated_bytes}}; })},
      {{"peak_reserved_bytes", "peak reserved"}, of_figures([](const ArmFigures& f) { return Cell{Bytes{f.hot.reserved_bytes}}; })},
  };
}

Columns fragmentation_columns() {
  return {{{"fragmentation_bytes", "fragmentation"},
           of_figures([](const ArmFigures& f) { return Cell{Bytes{f.hot.reserved_bytes - f.hot.allocated_bytes}}; })}};
}

Columns hot_rank_columns() {
  return {{{"hot_rank", "hot rank"}, of_figures([](const ArmFigures& f) { return Cell{Count{f.hot.rank}}; })}};
}

Columns hot_rank_alike_columns() {
  return {{{"hot_rank_num_alike", "alike"},
           [](const ArmContext& c) { return c.arm->figures ? alike_cell(c, c.arm->figures->hot.rank) : Cell{}; }}};
}

Columns phase_columns() {
  return {
      {{"binding_phase", "binding phase"}, of_figures([](const ArmFigures& f) { return name_cell(f.hot.binding_phase); })},
      {{"activation_peak_bytes", "act. peak"}, of_figures([](const ArmFigures& f) { return cell_of<Bytes>(f.activation_peak_bytes); })},
      {{"held_after_forward_bytes", "held after fwd"},
       of_figures([](const ArmFigures& f) { return cell_of<Bytes>(f.held_after_forward_bytes); })},
  };
}

Columns time_columns() {
  return {
      {{"step_time_ns", "step time"}, of_figures([](const ArmFigures& f) { return cell_of<Nanoseconds>(f.median_step_time_ns); })},
      {{"tflops_per_rank", "TFLOP/s/rank"}, of_figures([](const ArmFigures& f) { return cell_of<Teraflops>(f.tflops_per_rank); })},
  };
}

// Never in one table with a time that was measured.
Columns estimate_columns() {
  return {
      {{"estimated_step_time_ns", "estimated step time"},
       of_figures([](const ArmFigures& f) { return f.estimate ? Cell{Nanoseconds{f.estimate->time_ns}} : Cell{}; })},
      {{"estimated_replay_ns", "estimate, of it replay"},
       of_figures([](const ArmFigures& f) { return f.estimate ? Cell{Nanoseconds{f.estimate->replay_ns}} : Cell{}; })},
  };
}

Cell against(const Effect& effect) { return effect.against + (effect.against_control ? "" : " (reference, not control)"); }

// In text a column stands only when it has something to say: most studies are set against their control and nothing is censored.
Columns effect_columns() {
  return {
      {{"against", "set against", Place::kDataOnly}, of_effect(against)},
      {{"against_reference", "set against", Place::kTextOnly},
       of_effect([](const Effect& e) { return e.against_control ? Cell{} : against(e); })},
      {{"peak_delta_bytes", "peak diff"}, of_effect([](const Effect& e) { return Cell{BytesDelta{e.peak_delta_bytes}}; })},
      {{"peak_delta_fraction", "peak diff"}, of_effect([](const Effect& e) { return cell_of<FractionDelta>(e.peak_delta_fraction); })},
      {{"saving_is", "saving is", Place::kDataOnly},
       of_effect([](const Effect& e) { return text_cell(e.censored ? "at least" : "as shown"); })},
      {{"saving_at_least", "saving is", Place::kTextOnly},
       of_effect([](const Effect& e) { return text_cell(e.censored ? "at least" : ""); })},
      {{"activation_delta_bytes", "act. diff", Place::kDataOnly},
       of_effect([](const Effect& e) { return cell_of<BytesDelta>(e.activation_delta_bytes); })},
      {{"activation_delta_fraction", "act. diff"},
       of_effect([](const Effect& e) { return cell_of<FractionDelta>(e.activation_delta_fraction); })},
  };
}

Columns time_effect_columns() {
  return {
      {{"time_delta_fraction", "time diff"}, of_effect([](const Effect& e) { return cell_of<FractionDelta>(e.time_delta_fraction); })},
      {{"aa_time_difference_fraction", "A/A"},
       [](const ArmContext& c) { return c.arm->figures ? cell_of<FractionDelta>(c.aa_fraction) : Cell{}; }},
  };
}

Columns estimate_effect_columns() {
  return {{{"estimated_time_delta_fraction", "estimated time diff"},
           of_effect([](const Effect& e) { return cell_of<FractionDelta>(e.estimated_time_delta_fraction); })}};
}

Columns evidence_columns(Place place) {
  return {
      {{"failure_kind", "failure", place}, of_failure([](const Failure& f) { return name_cell(f.kind); })},
      {{"failure_stage", "stage", place}, of_failure([](const Failure& f) { return name_cell(f.stage); })},
      {{"failure_step", "step", place}, of_failure([](const Failure& f) { return cell_of<Count>(f.step); })},
      {{"failure_phase", "phase", place}, of_failure([](const Failure& f) { return name_cell(f.phase); })},
      {{"failure_rank", "rank", place}, of_failure([](const Failure& f) { return Cell{Count{f.rank}}; })},
      {{"failure_host", "host", place}, of_failure([](const Failure& f) { return text_cell(f.host); })},
      {{"requested_bytes", "requested", place}, of_failure([](const Failure& f) { return cell_of<Bytes>(f.requested_bytes); })},
      {{"allocated_bytes", "allocated", place}, of_failure([](const Failure& f) { return cell_of<Bytes>(f.allocated_bytes); })},
      {{"reserved_bytes", "reserved", place}, of_failure([](const Failure& f) { return cell_of<Bytes>(f.reserved_bytes); })},
      {{"limit_bytes", "limit", place}, of_failure([](const Failure& f) { return cell_of<Bytes>(f.capacity_bytes); })},
  };
}

Cell comparison_basis(const ArmContext& context) {
  if (!context.arm->failed_comparison) return {};
  const std::optional<std::int64_t> step = context.arm->failed_comparison->step;
  return step ? "after step " + std::to_string(*step) + ", not a pass" : std::string("not comparable");
}

template <typename Get>
std::function<Cell(const ArmContext&)> at_common_step(Get get) {
  return [get](const ArmContext& context) {
    const auto& comparison = context.arm->failed_comparison;
    return comparison && comparison->step ? get(*comparison) : Cell{};
  };
}

Cell moved_text(const ArmContext& context) {
  if (!context.arm->moved) return {};
  const base::MovedFailure& moved = *context.arm->moved;
  const auto place = [&](const Failure& failure) {
    const bool is_other = moved.from.rank != moved.to.rank;
    return rules::place_of(failure) + (is_other ? " on rank " + std::to_string(failure.rank) : "");
  };
  return "moved from " + place(moved.from) + " to " + place(moved.to);
}

Columns comparison_columns(Place place) {
  using base::FailedComparison;
  return {
      {{"failed_comparison", "against the control", place}, comparison_basis},
      {{"failed_peak_delta_bytes", "peak diff", place},
       at_common_step([](const FailedComparison& c) { return Cell{BytesDelta{c.peak_delta_bytes}}; })},
      {{"failed_peak_delta_fraction", "peak diff", place},
       at_common_step([](const FailedComparison& c) { return cell_of<FractionDelta>(c.peak_delta_fraction); })},
      {{"failure_moved", "moved", place}, moved_text},
  };
}

ArmColumn reason_column(Place place) {
  return {{"reason", "reason", place}, [](const ArmContext& c) { return text_cell(c.arm->reason); }};
}

Columns failed_rank_alike_columns(Place place) {
  return {{{"failure_num_alike", "alike", place},
           [](const ArmContext& c) { return c.arm->failure ? alike_cell(c, c.arm->failure->rank) : Cell{}; }}};
}

Columns all_columns(std::optional<Provenance> provenance) {
  const auto measured = [&](Columns columns) { return unless_predicted(provenance, std::move(columns)); };
  const auto predicted = [&](Columns columns) { return if_predicted(provenance, std::move(columns)); };
  return joined({identity_columns(),
                 measured(repeat_columns()),
                 memory_columns(),
                 predicted(fragmentation_columns()),
                 hot_rank_columns(),
                 predicted(hot_rank_alike_columns()),
                 phase_columns(),
                 measured(time_columns()),
                 predicted(estimate_columns()),
                 effect_columns(),
                 measured(time_effect_columns()),
                 predicted(estimate_effect_columns()),
                 evidence_columns(Place::kDataOnly),
                 predicted(failed_rank_alike_columns(Place::kDataOnly)),
                 comparison_columns(Place::kDataOnly),
                 {reason_column(Place::kDataOnly)}});
}

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

const ArmColumn kModules = {{"modules", "modules"}, [](const ArmContext& c) { return text_cell(c.arm->arm); }};
const ArmColumn kOutcome = {{"outcome", "outcome"}, [](const ArmContext& c) { return outcome_cell(c.arm->outcome, *c.plan); }};

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
    tables.push_back(table_of("arms", "Arms", all_columns(provenance), rows));
    tables.back().in_csv = true;
  }
  return tables;
}

Table failed_arms_table(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  auto failed = [](const ArmVerdict& arm) { return arm.failure.has_value(); };
  Table table = table_of("failed_arms", "Failed arms",
                         joined({{kModules},
                                 evidence_columns(Place::kEverywhere),
                                 base::is_predicted(study.plan) ? failed_rank_alike_columns(Place::kEverywhere) : Columns{},
                                 comparison_columns(Place::kEverywhere)}),
                         contexts_of(study, verdict, failed));
  table.place = Place::kTextOnly;  // the main table has these columns as data
  return table;
}

Table reasons_table(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  auto without_figures = [](const ArmVerdict& arm) { return !arm.figures && !arm.failure; };
  Table table = table_of("arms_without_figures", "Arms without figures", {kModules, kOutcome, reason_column(Place::kEverywhere)},
                         contexts_of(study, verdict, without_figures));
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

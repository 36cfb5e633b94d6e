#include "orchestrator/report/arm_columns.h"

#include <utility>

#include "orchestrator/report/outcome_cell.h"
#include "orchestrator/rules/moved_failure.h"

namespace rematch::report {

namespace {

using base::ArmFigures;
using base::ArmVerdict;
using base::Effect;
using base::Failure;

template <typename Part, typename Get>
std::function<Cell(const ArmContext&)> of_arm(const std::optional<Part> ArmVerdict::*part, Get get) {
  return [cell = of_part<ArmVerdict, Part>(part, get)](const ArmContext& context) { return cell(*context.arm); };
}
template <typename Get>
auto of_figures(Get get) {
  return of_arm<ArmFigures>(&ArmVerdict::figures, get);
}
template <typename Get>
auto of_effect(Get get) {
  return of_arm<Effect>(&ArmVerdict::effect, get);
}
template <typename Get>
auto of_failure(Get get) {
  return of_arm<Failure>(&ArmVerdict::failure, get);
}

using protocol::Provenance;

// What a table of this provenance has no column for: a prediction has no repeats and no time of its own.
ArmColumns unless_predicted(std::optional<Provenance> provenance, ArmColumns columns) {
  return provenance == Provenance::kPredicted ? ArmColumns{} : std::move(columns);
}
ArmColumns if_predicted(std::optional<Provenance> provenance, ArmColumns columns) {
  return provenance == Provenance::kPredicted ? std::move(columns) : ArmColumns{};
}

ArmColumns joined(std::vector<ArmColumns> parts) {
  ArmColumns all;
  for (ArmColumns& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Cell alike_cell(const ArmContext& context, std::int64_t rank) { return Count{base::num_alike(context.plan->trials.front(), rank)}; }

const ArmColumn kModules = {{"modules", "modules"}, [](const ArmContext& c) { return text_cell(c.arm->arm); }};
const ArmColumn kOutcome = {{"outcome", "outcome"}, [](const ArmContext& c) { return outcome_cell(c.arm->outcome, *c.plan); }};

ArmColumns identity_columns() {
  return {
      {{"study", "study", Place::kDataOnly}, [](const ArmContext& c) { return text_cell(c.plan->name); }},
      {{"study_id", "study id", Place::kDataOnly}, [](const ArmContext& c) { return text_cell(c.plan->study_id); }},
      kModules,
      kOutcome,
  };
}

ArmColumns repeat_columns() {
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

ArmColumns memory_columns() {
  return {
      {{"provenance", "provenance"}, [](const ArmContext& c) { return name_cell(c.arm->provenance); }},
      {{"peak_allocated_bytes", "peak allocated"}, of_figures([](const ArmFigures& f) { return Cell{Bytes{f.hot.allocated_bytes}}; })},
      {{"peak_reserved_bytes", "peak reserved"}, of_figures([](const ArmFigures& f) { return Cell{Bytes{f.hot.reserved_bytes}}; })},
  };
}

ArmColumns fragmentation_columns() {
  return {{{"fragmentation_bytes", "fragmentation"},
           of_figures([](const ArmFigures& f) { return Cell{Bytes{f.hot.reserved_bytes - f.hot.allocated_bytes}}; })}};
}

ArmColumns hot_rank_columns() {
  return {{{"hot_rank", "hot rank"}, of_figures([](const ArmFigures& f) { return Cell{Count{f.hot.rank}}; })}};
}

ArmColumns hot_rank_alike_columns() {
  return {{{"hot_rank_num_alike", "others alike"},
           [](const ArmContext& c) { return c.arm->figures ? alike_cell(c, c.arm->figures->hot.rank) : Cell{}; }}};
}

ArmColumns phase_columns() {
  return {
      {{"binding_phase", "binding phase"}, of_figures([](const ArmFigures& f) { return name_cell(f.hot.binding_phase); })},
      {{"activation_peak_bytes", "act. peak"}, of_figures([](const ArmFigures& f) { return cell_of<Bytes>(f.activation_peak_bytes); })},
      {{"held_after_forward_bytes", "held after fwd"},
       of_figures([](const ArmFigures& f) { return cell_of<Bytes>(f.held_after_forward_bytes); })},
  };
}

ArmColumns time_columns() {
  return {
      {{"step_time_ns", "step time"}, of_figures([](const ArmFigures& f) { return cell_of<Nanoseconds>(f.median_step_time_ns); })},
      {{"tflops_per_rank", "TFLOP/s/rank"}, of_figures([](const ArmFigures& f) { return cell_of<Teraflops>(f.tflops_per_rank); })},
  };
}

// Never in one table with a time that was measured.
ArmColumns estimate_columns() {
  return {
      {{"estimated_step_time_ns", "estimated step time"},
       of_figures([](const ArmFigures& f) { return f.estimate ? Cell{Nanoseconds{f.estimate->time_ns}} : Cell{}; })},
      {{"estimated_replay_ns", "estimate, of it replay"},
       of_figures([](const ArmFigures& f) { return f.estimate ? Cell{Nanoseconds{f.estimate->replay_ns}} : Cell{}; })},
  };
}

Cell against(const Effect& effect) { return effect.against + (effect.against_control ? "" : " (reference, not control)"); }

// In text a column stands only when it has something to say: most studies are set against their control and nothing is censored.
ArmColumns effect_columns() {
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

ArmColumns time_effect_columns() {
  return {
      {{"time_delta_fraction", "time diff"}, of_effect([](const Effect& e) { return cell_of<FractionDelta>(e.time_delta_fraction); })},
      {{"pareto", "Pareto"}, [](const ArmContext& c) { return c.arm->is_pareto ? Cell{"yes"} : Cell{}; }},
      {{"aa_time_difference_fraction", "A/A"},
       [](const ArmContext& c) { return c.arm->figures ? cell_of<FractionDelta>(c.aa_fraction) : Cell{}; }},
  };
}

ArmColumns estimate_effect_columns() {
  return {{{"estimated_time_delta_fraction", "estimated time diff"},
           of_effect([](const Effect& e) { return cell_of<FractionDelta>(e.estimated_time_delta_fraction); })}};
}

ArmColumns evidence_columns(Place place) {
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

ArmColumns comparison_columns(Place place) {
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

ArmColumns failed_rank_alike_columns(Place place) {
  return {{{"failure_num_alike", "others alike", place},
           [](const ArmContext& c) { return c.arm->failure ? alike_cell(c, c.arm->failure->rank) : Cell{}; }}};
}

}  // namespace

ArmColumns main_columns(std::optional<Provenance> provenance) {
  const auto measured = [&](ArmColumns columns) { return unless_predicted(provenance, std::move(columns)); };
  const auto predicted = [&](ArmColumns columns) { return if_predicted(provenance, std::move(columns)); };
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

ArmColumns failure_columns(const base::StudyPlan& plan) {
  return joined({{kModules},
                 evidence_columns(Place::kEverywhere),
                 base::is_predicted(plan) ? failed_rank_alike_columns(Place::kEverywhere) : ArmColumns{},
                 comparison_columns(Place::kEverywhere)});
}

ArmColumns reason_columns() { return {kModules, kOutcome, reason_column(Place::kEverywhere)}; }

}  // namespace rematch::report

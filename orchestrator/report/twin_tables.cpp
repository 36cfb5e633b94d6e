#include "orchestrator/report/twin_tables.h"

#include "orchestrator/report/cells.h"
#include "orchestrator/report/provenance_columns.h"
#include "orchestrator/rules/provenance.h"
#include "orchestrator/rules/twin_study.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::report {

namespace {

using rules::TwinArm;

struct PhaseRow {
  std::string arm;
  std::int64_t rank = 0;
  std::int64_t assumed_bytes = 0;
  rules::TwinPhase peak;
};

// What the modelled device has no counterpart of is taken off before the two are compared.
std::optional<std::int64_t> less(std::optional<std::int64_t> own, std::int64_t assumed_bytes) {
  return own ? std::optional(*own - assumed_bytes) : std::nullopt;
}

Cell delta_cell(std::optional<std::int64_t> own, std::optional<std::int64_t> twin) {
  return own && twin ? Cell{BytesDelta{*own - *twin}} : Cell{};
}
Cell fraction_cell(std::optional<std::int64_t> own, std::optional<std::int64_t> twin) {
  return cell_of<FractionDelta>(stats::difference_fraction(own, twin));
}

std::vector<ColumnOf<TwinArm>> arm_columns(const OwnColumns& own, const OwnColumns& twin) {
  return {
      modules_column<TwinArm>(),
      {own.column("hot_rank", "hot rank"), [](const TwinArm& a) { return Cell{Count{a.own.rank}}; }},
      {own.column("peak_allocated_bytes", "peak allocated"), [](const TwinArm& a) { return Cell{Bytes{a.own.allocated_bytes}}; }},
      {own.column("peak_reserved_bytes", "peak reserved"), [](const TwinArm& a) { return Cell{Bytes{a.own.reserved_bytes}}; }},
      {own.column("assumed_bytes", "of it assumed"), [](const TwinArm& a) { return Cell{Bytes{a.assumed_bytes}}; }},
      {twin.column("hot_rank", "hot rank"), [](const TwinArm& a) { return Cell{Count{a.twin.rank}}; }},
      {twin.column("peak_allocated_bytes", "peak allocated"), [](const TwinArm& a) { return Cell{Bytes{a.twin.allocated_bytes}}; }},
      {twin.column("peak_reserved_bytes", "peak reserved"), [](const TwinArm& a) { return Cell{Bytes{a.twin.reserved_bytes}}; }},
      {{"difference_bytes", "allocated, diff"},
       [](const TwinArm& a) { return delta_cell(less(a.own.allocated_bytes, a.assumed_bytes), a.twin.allocated_bytes); }},
      {{"difference_fraction", "allocated, diff"},
       [](const TwinArm& a) { return fraction_cell(less(a.own.allocated_bytes, a.assumed_bytes), a.twin.allocated_bytes); }},
      {{"reserved_difference_fraction", "reserved, diff"},
       [](const TwinArm& a) { return fraction_cell(less(a.own.reserved_bytes, a.assumed_bytes), a.twin.reserved_bytes); }},
  };
}

std::vector<ColumnOf<PhaseRow>> phase_columns(const OwnColumns& own, const OwnColumns& twin) {
  return {
      modules_column<PhaseRow>(),
      {{"rank", "rank"}, [](const PhaseRow& r) { return Cell{Count{r.rank}}; }},
      {{"phase", "phase"}, [](const PhaseRow& r) { return name_cell(r.peak.phase); }},
      {own.column("peak_allocated_bytes", "peak allocated"), [](const PhaseRow& r) { return cell_of<Bytes>(r.peak.own_bytes); }},
      {twin.column("peak_allocated_bytes", "peak allocated"), [](const PhaseRow& r) { return cell_of<Bytes>(r.peak.twin_bytes); }},
      {{"difference_bytes", "diff"},
       [](const PhaseRow& r) { return delta_cell(less(r.peak.own_bytes, r.assumed_bytes), r.peak.twin_bytes); }},
      {{"difference_fraction", "diff"},
       [](const PhaseRow& r) { return fraction_cell(less(r.peak.own_bytes, r.assumed_bytes), r.peak.twin_bytes); }},
  };
}

}  // namespace

std::vector<Table> twin_tables(const base::StudyRows& study, const base::StudyRows& twin) {
  const std::vector<TwinArm> arms = rules::compare_twin(study, twin);
  const auto own_provenance = rules::provenance_of(study);
  const auto twin_provenance = rules::provenance_of(twin);
  if (arms.empty() || !own_provenance || !twin_provenance) return {};
  const OwnColumns own(*own_provenance);
  const OwnColumns other(*twin_provenance);
  std::vector<PhaseRow> phases;
  for (const TwinArm& arm : arms)
    for (const rules::TwinPhase& phase : arm.phases) phases.push_back({arm.arm, arm.own.rank, arm.assumed_bytes, phase});
  const std::string beside = own.title() + " beside " + std::string(protocol::to_string(*twin_provenance)) + ", study " + twin.plan.name +
                             " (" + twin.plan.study_id + ")";
  return {table_of("twin_arms", beside + ": hot ranks", arm_columns(own, other), arms),
          table_of("twin_phases", beside + ": phases of the " + std::string(protocol::to_string(*own_provenance)) + " hot rank",
                   phase_columns(own, other), phases)};
}

}  // namespace rematch::report

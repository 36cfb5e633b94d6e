#include "orchestrator/store/effect_rows.h"

#include "orchestrator/store/columns.h"

namespace rematch::store {

namespace {

// A column of a part that may be missing.
template <typename Part, typename Get>
void column_of(ColumnWriter& columns, const char* name, const std::optional<Part>& part, Get get) {
  if (part)
    columns(name, get(*part));
  else
    columns(name, std::optional<std::string>{});
}

void memory_columns(ColumnWriter& columns, const std::optional<base::MemoryVerdict>& memory) {
  using base::MemoryVerdict;
  column_of(columns, "memory_verdict", memory, [](const MemoryVerdict& verdict) { return std::string(to_string(verdict.word)); });
  column_of(columns, "memory_low_bytes", memory, [](const MemoryVerdict& verdict) { return verdict.low_bytes; });
  column_of(columns, "memory_high_bytes", memory, [](const MemoryVerdict& verdict) { return verdict.high_bytes; });
}

void time_columns(ColumnWriter& columns, const std::optional<base::TimeVerdict>& time) {
  using base::TimeVerdict;
  column_of(columns, "time_fraction", time, [](const TimeVerdict& verdict) { return verdict.fraction; });
  column_of(columns, "time_low", time, [](const TimeVerdict& verdict) { return verdict.low; });
  column_of(columns, "time_high", time, [](const TimeVerdict& verdict) { return verdict.high; });
  column_of(columns, "time_verdict", time, [](const TimeVerdict& verdict) { return std::string(to_string(verdict.word)); });
  column_of(columns, "blocks_needed", time, [](const TimeVerdict& verdict) { return verdict.blocks_needed; });
}

void insert_effect(Database& database, const std::string& study_id, const std::string& arm, const base::Effect& effect) {
  ColumnWriter columns;
  columns("against", effect.against);
  columns("against_control", effect.against_control);
  columns("peak_delta_bytes", effect.peak_delta_bytes);
  columns("activation_delta_bytes", effect.activation_delta_bytes);
  columns("censored", effect.censored);
  memory_columns(columns, effect.memory);
  time_columns(columns, effect.time);
  insert_values(database, "effect", {{"study_id", study_id}, {"arm", arm}}, columns, OnConflict::kFail);
}

void insert_fit(Database& database, const std::string& study_id, const std::string& group_id, const base::TimeFit& fit) {
  ColumnWriter columns;
  columns("num_runs", fit.num_runs);
  columns("degrees_of_freedom", fit.degrees_of_freedom);
  columns("residual_sd", fit.residual_sd);
  columns("critical_value", fit.critical_value);
  columns("confidence", fit.confidence);
  columns("drift_per_slot", fit.drift_per_slot);
  columns("drift_p_value", fit.drift_p_value);
  insert_values(database, "time_fit", {{"study_id", study_id}, {"group_id", group_id}}, columns, OnConflict::kFail);
}

}  // namespace

void insert_effects(Database& database, const std::string& study_id, const base::StudyVerdict& verdict) {
  for (const base::ArmVerdict& arm : verdict.arms)
    if (arm.effect) insert_effect(database, study_id, arm.arm, *arm.effect);
  for (const base::GroupVerdict& group : verdict.groups)
    if (group.fit) insert_fit(database, study_id, group.group_id, *group.fit);
}

}  // namespace rematch::store

#include "orchestrator/store/attribution_rows.h"

#include <algorithm>

#include "orchestrator/store/row_columns.h"

namespace rematch::store {

namespace {

constexpr const char* kStep = "step";
constexpr const char* kOom = "oom";
constexpr const char* kOrder = "source, step, role, region";

void insert_parts(Database& database, const Key& key, const char* source, std::int64_t step,
                  const std::optional<protocol::Attribution>& attribution) {
  if (!attribution) return;
  for (const protocol::AttributedBytes& part : *attribution)
    insert_row(database, "peak_attribution", key, AttributionRow{source, step, part});
}

// The list that a row belongs to; nullptr when there is none (an edited database).
std::optional<protocol::Attribution>* attribution_of(base::RankRows& rank, const AttributionRow& row) {
  if (row.source == kOom) return rank.oom ? &rank.oom->attribution : nullptr;
  const auto step = static_cast<std::size_t>(row.step);
  return step < rank.steps.size() ? &rank.steps[step].peak_attribution : nullptr;
}

void add_part(std::optional<protocol::Attribution>& attribution, const protocol::AttributedBytes& part) {
  if (!attribution) attribution.emplace();
  // SQL orders roles by name, a record in the order of the vocabulary.
  attribution->insert(std::upper_bound(attribution->begin(), attribution->end(), part), part);
}

constexpr const char* kControlPeakSql = R"sql(
  SELECT s.name, a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step, r.provenance
  FROM trial t
  JOIN study s USING (study_id)
  JOIN peak_attribution a USING (study_id, trial_id)
  JOIN rank r ON r.study_id = a.study_id AND r.trial_id = a.trial_id AND r.attempt = a.attempt AND r.rank = a.rank
  LEFT JOIN failure f ON f.study_id = a.study_id AND f.trial_id = a.trial_id AND f.attempt = a.attempt
  WHERE t.group_id = ? AND t.is_control = 1
    AND ((f.kind IS NULL AND a.source = 'step') OR (f.kind = 'oom' AND f.rank = a.rank AND a.source = 'oom'))
  GROUP BY a.study_id, a.trial_id, a.attempt, a.rank, a.source, a.step
  ORDER BY f.kind IS NOT NULL, sum(a.bytes) DESC, t.run_position, a.attempt, a.rank
  LIMIT 1
)sql";

protocol::Phase phase_of(Database& database, const Key& key_of_rank, const AttributionRow& moment) {
  if (moment.source == kOom) {
    protocol::Phase phase = protocol::Phase::kOther;
    from_value(select_values(database, "rank_oom", {"phase"}, key_of_rank, "rank").front().front(), phase);
    return phase;
  }
  Key key = key_of_rank;
  key.emplace_back("source", moment.source);
  key.emplace_back("step", moment.step);
  protocol::PhasePeaks peaks;
  for (const PhaseRow& row : select_rows<PhaseRow>(database, "phase", key, "phase")) peaks[row.phase] = row.peak;
  return base::binding_phase(peaks);
}

}  // namespace

void insert_attributions(Database& database, const Key& key, const base::RankRows& rank) {
  if (const protocol::StepRecord* step = base::hottest_step(rank)) insert_parts(database, key, kStep, step->step, step->peak_attribution);
  if (rank.oom) insert_parts(database, key, kOom, rank.oom->step.value_or(kNoStep), rank.oom->attribution);
}

void select_attributions(Database& database, const Key& key, base::RankRows& rank) {
  for (const AttributionRow& row : select_rows<AttributionRow>(database, "peak_attribution", key, kOrder))
    if (auto* attribution = attribution_of(rank, row)) add_part(*attribution, row.part);
}

std::optional<base::ControlPeak> select_control_peak(Database& database, const std::string& group_id) {
  const std::vector<ValueRow> found = database.query(kControlPeakSql, {group_id});
  if (found.empty()) return std::nullopt;
  const ValueRow& row = found.front();
  base::ControlPeak control;
  AttributionRow moment;
  from_value(row[0], control.study);
  from_value(row[2], control.trial_id);
  from_value(row[4], control.peak.rank);
  from_value(row[5], moment.source);
  from_value(row[6], moment.step);
  from_value(row[7], control.provenance);
  const Key key = {{"study_id", row[1]}, {"trial_id", row[2]}, {"attempt", row[3]}, {"rank", row[4]}};
  control.peak.moment = moment.source == kOom ? base::Moment::kOutOfMemory : base::Moment::kPeak;
  if (moment.step != kNoStep) control.peak.step = moment.step;
  control.peak.phase = phase_of(database, key, moment);
  Key key_of_moment = key;
  key_of_moment.emplace_back("source", row[5]);
  key_of_moment.emplace_back("step", row[6]);
  std::optional<protocol::Attribution> attribution;
  for (const AttributionRow& part : select_rows<AttributionRow>(database, "peak_attribution", key_of_moment, kOrder))
    add_part(attribution, part.part);
  control.peak.attribution = std::move(attribution).value();
  return control;
}

}  // namespace rematch::store

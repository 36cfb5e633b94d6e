#include "orchestrator/store/summary_rows.h"

#include "orchestrator/store/columns.h"
#include "orchestrator/store/store.h"

namespace rematch::store {

namespace {

std::vector<base::ArmSummary> select_arms(Database& database, const std::string& study_id, const Value& arms) {
  std::vector<base::ArmSummary> summaries;
  for (const ValueRow& row :
       database.query("SELECT a.arm, a.variation, v.outcome, v.reason FROM arm a JOIN verdict v ON v.study_id = "
                      "a.study_id AND v.scope = 'arm' AND v.subject = a.arm WHERE a.study_id = ? AND a.arm IN (SELECT "
                      "value FROM json_each(?)) ORDER BY a.position",
                      {study_id, arms})) {
    base::ArmSummary& summary = summaries.emplace_back();
    from_value(row[0], summary.arm);
    from_value(row[1], summary.variation);
    from_value(row[2], summary.outcome);
    from_value(row[3], summary.reason);
  }
  return summaries;
}

std::vector<base::RunSummary> select_runs(Database& database, const std::string& study_id, const Value& arms) {
  std::vector<base::RunSummary> runs;
  for (const ValueRow& row :
       database.query("SELECT t.trial_id, t.arm, a.attempt, v.outcome, v.reason, v.peak_allocated_bytes, v.peak_reserved_bytes, "
                      "v.activation_peak_bytes, v.step_time_ns FROM trial t INDEXED BY trial_of_arm CROSS JOIN attempt a INDEXED BY "
                      "attempt_key ON a.study_id = t.study_id AND a.trial_id = t.trial_id CROSS JOIN verdict v ON v.study_id = a.study_id "
                      "AND v.scope = 'run' AND v.subject = a.trial_id || '/' || a.attempt WHERE t.study_id = ? AND t.arm IN (SELECT value "
                      "FROM json_each(?)) ORDER BY t.run_position, a.attempt",
                      {study_id, arms})) {
    base::RunSummary& run = runs.emplace_back();
    from_value(row[0], run.trial_id);
    from_value(row[1], run.arm);
    from_value(row[2], run.attempt);
    from_value(row[3], run.outcome);
    from_value(row[4], run.reason);
    from_value(row[5], run.peak_allocated_bytes);
    from_value(row[6], run.peak_reserved_bytes);
    from_value(row[7], run.activation_peak_bytes);
    from_value(row[8], run.step_time_ns);
  }
  return runs;
}

std::vector<base::Unmatched> select_unmatched(Database& database, const std::string& study_id, const Value& arms) {
  std::vector<base::Unmatched> unmatched;
  for (const ValueRow& row : database.query("SELECT d.trial_id, d.attempt, t.arm, d.against, d.field, d.value, d.against_value FROM "
                                            "field_difference d JOIN trial t USING (study_id, trial_id) WHERE d.study_id = ? AND t.arm IN "
                                            "(SELECT value FROM json_each(?)) ORDER BY d.trial_id, d.attempt, d.position",
                                            {study_id, arms})) {
    base::Unmatched one;
    from_value(row[0], one.trial_id);
    from_value(row[1], one.attempt);
    from_value(row[2], one.arm);
    from_value(row[3], one.against);
    if (unmatched.empty() || unmatched.back().trial_id != one.trial_id || unmatched.back().attempt != one.attempt) unmatched.push_back(one);
    base::FieldDifference& difference = unmatched.back().differences.emplace_back();
    from_value(row[4], difference.field);
    from_value(row[5], difference.value);
    from_value(row[6], difference.against_value);
  }
  return unmatched;
}

}  // namespace

std::optional<base::StudySummaries> select_summaries(Database& database, const std::string& study_id,
                                                     const std::vector<std::string>& arms) {
  if (database.query("SELECT 1 FROM verdict WHERE study_id = ? AND scope = 'study'", {study_id}).empty()) return std::nullopt;
  const Value names = to_value(arms);
  return base::StudySummaries{select_arms(database, study_id, names), select_runs(database, study_id, names),
                              select_unmatched(database, study_id, names)};
}

}  // namespace rematch::store

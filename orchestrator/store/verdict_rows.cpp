#include "orchestrator/store/verdict_rows.h"

#include <array>

#include "orchestrator/base/run_summary.h"
#include "orchestrator/store/arm_rows.h"
#include "orchestrator/store/columns.h"
#include "orchestrator/store/effect_rows.h"

namespace rematch::store {

namespace {

std::string_view name_of(base::Conclusion conclusion) {
  switch (conclusion) {
    case base::Conclusion::kUsable: return "usable";
    case base::Conclusion::kCandidateFailed: return "candidate failed";
    case base::Conclusion::kNoneMeetsBudget: return "none meets the budget";
    case base::Conclusion::kControlInvalid: return "control invalid";
    case base::Conclusion::kUnmatched: return "unmatched";
  }
  return "unknown";
}

constexpr std::array kAllConclusions = {base::Conclusion::kUsable, base::Conclusion::kCandidateFailed, base::Conclusion::kNoneMeetsBudget,
                                        base::Conclusion::kControlInvalid, base::Conclusion::kUnmatched};

Key key_of(const std::string& study_id, const std::string& scope, const std::string& subject) {
  return {{"study_id", study_id}, {"scope", scope}, {"subject", subject}};
}

// RunFigures and ArmFigures name these alike.
template <typename Figures>
void figure_columns(ColumnWriter& columns, const Figures& figures) {
  columns("hot_rank", figures.hot.rank);
  columns("peak_allocated_bytes", figures.hot.allocated_bytes);
  columns("peak_reserved_bytes", figures.hot.reserved_bytes);
  columns("binding_phase", figures.hot.binding_phase);
  columns("activation_peak_bytes", figures.activation_peak_bytes);
  columns("step_time_ns", figures.median_step_time_ns);
  columns("tflops_per_rank", figures.tflops_per_rank);
  columns("mean_step_time_ns", figures.means.mean_step_time_ns);
  columns("window_step_time_ns", figures.means.window_step_time_ns);
  columns("tflops_of_mean_time", figures.means.tflops_of_mean_time);
  columns("tflops_mean_over_steps", figures.means.tflops_mean_over_steps);
}

// What the steady state of a run rests on.
void steady_columns(ColumnWriter& columns, const base::RunFigures& figures) {
  if (figures.median_step_time_ns) {  // a prediction has no times that could settle
    columns("first_steady_step", figures.first_steady_step);
    columns("warmup_reached", figures.warmup_reached);
  }
  columns("peak_growth_bytes", figures.peak_growth_bytes);
  columns("peak_growth_allowed_bytes", figures.peak_growth_allowed_bytes);
}

void insert_run(Database& database, const std::string& study_id, const base::RunVerdict& run) {
  ColumnWriter columns;
  columns("outcome", std::string(to_string(run.outcome)));
  columns("reason", base::summary_of(run).reason);
  columns("loss_basis", run.loss_basis);
  std::vector<std::string> shortfalls;
  for (const base::Shortfall& shortfall : run.shortfalls) shortfalls.insert(shortfalls.end(), {shortfall.rule, shortfall.message});
  columns("shortfalls", shortfalls);
  if (run.figures) {
    figure_columns(columns, *run.figures);
    steady_columns(columns, *run.figures);
  }
  const std::string subject = run.trial_id + "/" + std::to_string(run.attempt);
  insert_values(database, "verdict", key_of(study_id, "run", subject), columns, OnConflict::kFail);
}

void arm_figure_columns(ColumnWriter& columns, const base::ArmFigures& figures, const AlikeRanks& alike) {
  figure_columns(columns, figures);
  columns("held_after_forward_bytes", figures.held_after_forward_bytes);
  columns("hot_rank_num_alike", num_alike(alike, figures.hot.rank));
  columns("estimated_step_time_ns", figures.estimate ? std::optional(figures.estimate->time_ns) : std::nullopt);
  columns("estimated_replay_ns", figures.estimate ? std::optional(figures.estimate->replay_ns) : std::nullopt);
}

void insert_arm(Database& database, const std::string& study_id, const base::ArmVerdict& arm, const AlikeRanks& alike) {
  ColumnWriter columns;
  columns("outcome", std::string(to_string(arm.outcome)));
  columns("reason", arm.reason);
  columns("num_planned", arm.num_planned);
  columns("num_judged", arm.num_judged);
  columns("num_passed", arm.num_passed);
  if (arm.pass_rate) {
    columns("pass_rate_low", arm.pass_rate->low);
    columns("pass_rate_high", arm.pass_rate->high);
  }
  columns("is_pareto", arm.is_pareto);
  columns("provenance", arm.provenance);
  if (arm.figures) arm_figure_columns(columns, *arm.figures, alike);
  insert_values(database, "verdict", key_of(study_id, "arm", arm.arm), columns, OnConflict::kFail);
}

void insert_interaction(Database& database, const std::string& study_id, const base::Interaction& pair) {
  ColumnWriter columns;
  columns("first", pair.first);
  columns("second", pair.second);
  columns("activation_bytes", pair.activation_bytes.value);
  columns("activation_low_bytes", pair.activation_bytes.low);
  columns("activation_high_bytes", pair.activation_bytes.high);
  if (pair.log_time) {
    columns("log_time", pair.log_time->value);
    columns("log_time_low", pair.log_time->low);
    columns("log_time_high", pair.log_time->high);
  }
  insert_values(database, "interaction", {{"study_id", study_id}, {"arm", pair.arm}}, columns, OnConflict::kFail);
}

struct MovedRankRow {
  std::string moved;  // hot_rank | failure
  std::string side;   // from | to
  std::string against;
  base::RankInBothArms rank;
};

void insert_moved_rank(Database& database, const std::string& study_id, const std::string& arm, const MovedRankRow& row) {
  ColumnWriter columns;
  columns("moved", row.moved);
  columns("side", row.side);
  columns("against", row.against);
  columns("rank", row.rank.rank);
  columns("pipeline_rank", row.rank.pipeline_rank);
  columns("pipeline_size", row.rank.pipeline_size);
  const auto peak_columns = [&](const char* bytes, const char* phase, const std::optional<base::RankPeak>& peak) {
    columns(bytes, peak ? std::optional(peak->allocated_bytes) : std::nullopt);
    columns(phase, peak ? peak->binding_phase : std::nullopt);
  };
  peak_columns("against_peak_allocated_bytes", "against_binding_phase", row.rank.against);
  peak_columns("peak_allocated_bytes", "binding_phase", row.rank.own);
  insert_values(database, "moved_rank", {{"study_id", study_id}, {"arm", arm}}, columns, OnConflict::kFail);
}

void insert_moved_ranks(Database& database, const std::string& study_id, const base::ArmVerdict& arm) {
  if (const auto& hot = arm.hot_rank_moved) {
    insert_moved_rank(database, study_id, arm.arm, {"hot_rank", "from", hot->against, hot->from});
    insert_moved_rank(database, study_id, arm.arm, {"hot_rank", "to", hot->against, hot->to});
  }
  if (arm.moved && arm.moved->from.rank != arm.moved->to.rank) {
    insert_moved_rank(database, study_id, arm.arm, {"failure", "from", arm.moved->against, arm.moved->from_rank});
    insert_moved_rank(database, study_id, arm.arm, {"failure", "to", arm.moved->against, arm.moved->to_rank});
  }
}

void insert_unmatched(Database& database, const std::string& study_id, const base::Unmatched& unmatched) {
  for (std::size_t i = 0; i < unmatched.differences.size(); ++i) {
    ColumnWriter columns;
    columns("against", unmatched.against);
    columns("field", unmatched.differences[i].field);
    columns("value", unmatched.differences[i].value);
    columns("against_value", unmatched.differences[i].against_value);
    const Key key = {{"study_id", study_id},
                     {"trial_id", unmatched.trial_id},
                     {"attempt", unmatched.attempt},
                     {"position", static_cast<std::int64_t>(i)}};
    insert_values(database, "field_difference", key, columns, OnConflict::kFail);
  }
}

void insert_diagnosis(Database& database, const std::string& study_id, const base::StudyVerdict& verdict, std::size_t position) {
  const base::Diagnosis& diagnosis = verdict.diagnoses[position];
  ColumnWriter columns;
  columns("symptom", diagnosis.symptom);
  columns("arm", diagnosis.arm);
  columns("finding", diagnosis.finding);
  columns("next_step", diagnosis.next_step);
  columns("why", diagnosis.why);
  columns("ruled_out", diagnosis.ruled_out);
  columns("command", diagnosis.command);
  insert_values(database, "diagnosis", {{"study_id", study_id}, {"position", static_cast<std::int64_t>(position)}}, columns,
                OnConflict::kFail);
}

}  // namespace

std::vector<std::string> conclusion_names() {
  std::vector<std::string> names;
  for (const base::Conclusion conclusion : kAllConclusions) names.emplace_back(name_of(conclusion));
  return names;
}

void delete_verdicts(Database& database, const std::string& study_id) {
  for (const char* table : {"verdict", "moved_rank", "field_difference", "diagnosis", "interaction", "effect", "time_fit", "arm_failure",
                            "failed_comparison", "control_pair"})
    database.run(std::string("DELETE FROM ") + table + " WHERE study_id = ?", {study_id});
}

void insert_verdicts(Database& database, const std::string& study_id, const base::StudyVerdict& verdict) {
  delete_verdicts(database, study_id);
  ColumnWriter columns;
  columns("outcome", std::string(name_of(verdict.conclusion)));
  columns("reason", verdict.conclusion_reason);
  columns("num_planned", verdict.num_planned);
  columns("num_judged", verdict.num_planned - verdict.num_missing);
  insert_values(database, "verdict", key_of(study_id, "study", ""), columns, OnConflict::kFail);
  const AlikeRanks alike = load_alike_ranks(database, study_id);
  for (const base::ArmVerdict& arm : verdict.arms) {
    insert_arm(database, study_id, arm, alike);
    insert_moved_ranks(database, study_id, arm);
  }
  for (const base::Interaction& pair : verdict.interactions) insert_interaction(database, study_id, pair);
  for (const base::RunVerdict& run : verdict.runs) insert_run(database, study_id, run);
  insert_effects(database, study_id, verdict);
  insert_arm_failures(database, study_id, verdict, alike);
  insert_control_pairs(database, study_id, verdict);
  for (const base::Unmatched& unmatched : verdict.unmatched) insert_unmatched(database, study_id, unmatched);
  for (std::size_t i = 0; i < verdict.diagnoses.size(); ++i) insert_diagnosis(database, study_id, verdict, i);
}

}  // namespace rematch::store

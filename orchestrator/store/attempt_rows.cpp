#include "orchestrator/store/attempt_rows.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

#include "orchestrator/store/attribution_rows.h"
#include "orchestrator/store/last_step_rows.h"
#include "orchestrator/store/row_columns.h"
#include "schemas/protocol/launch_record.h"

namespace rematch::store {

namespace {

using base::AttemptRows;
using base::RankRows;

Key with(Key key, const std::string& name, const Value& value) {
  key.emplace_back(name, value);
  return key;
}

Key attempt_key(const std::string& study_id, const std::string& trial_id, std::int64_t attempt) {
  return {{"study_id", study_id}, {"trial_id", trial_id}, {"attempt", attempt}};
}

void insert_phases(Database& database, const Key& key, const std::string& source, std::int64_t step, const protocol::PhasePeaks& peaks) {
  for (const auto& [phase, peak] : peaks) insert_row(database, "phase", key, PhaseRow{source, step, phase, peak});
}

void insert_counts(Database& database, const Key& key, const std::string& count_of, std::int64_t step,
                   const protocol::LabelCounts& counts) {
  for (const auto& [label, num] : counts) insert_row(database, "label_count", key, LabelCountRow{count_of, step, label, num});
}

void insert_errors(Database& database, const Key& key, const RankRows& rank) {
  if (rank.oom) {
    insert_row(database, "rank_oom", key, *rank.oom);
    insert_phases(database, key, "oom", rank.oom->step.value_or(kNoStep), rank.oom->phases);
  }
  for (std::size_t i = 0; i < rank.errors.size(); ++i)
    insert_row(database, "rank_error", with(key, "position", static_cast<std::int64_t>(i)), rank.errors[i]);
}

void insert_rank(Database& database, const Key& key_of_attempt, const RankRows& rank) {
  insert_row(database, "rank", key_of_attempt, rank);
  const Key key = with(key_of_attempt, "rank", rank.rank);
  if (rank.model) {
    insert_phases(database, key, "model", kNoStep, rank.model->phases);
    insert_counts(database, key, "sites", kNoStep, rank.model->sites);
    insert_counts(database, key, "sites_available", kNoStep, rank.model->sites_available);
  }
  for (std::size_t i = 0; i < rank.stages.size(); ++i)
    insert_row(database, "stage", with(key, "position", static_cast<std::int64_t>(i)), rank.stages[i]);
  for (const protocol::StepRecord& step : rank.steps) {
    insert_row(database, "step", key, step);
    insert_phases(database, key, "step", step.step, step.phases);
    insert_counts(database, key, "replays", step.step, step.replays);
  }
  insert_errors(database, key, rank);
  insert_attributions(database, key, rank);
  insert_last_step(database, key, rank);
}

// What the launch record says of the place of a rank.
void put_place(Database& database, const Key& key, const AttemptRows& attempt, const RankRows& rank) {
  const auto index = static_cast<std::size_t>(rank.exit.node);
  if (index >= attempt.launch.nodes.size()) return;
  const protocol::LaunchNode& node = attempt.launch.nodes[index];
  database.run("UPDATE rank SET node = ?, visible_devices = ? WHERE study_id = ? AND trial_id = ? AND attempt = ? AND rank = ?",
               {node.node, to_value(node.visible_devices), key[0].second, key[1].second, key[2].second, rank.rank});
}

void take_nodes(const protocol::LaunchRecord& launch, std::vector<RankRows>& ranks) {
  for (const protocol::RankExit& exit : launch.ranks)
    for (RankRows& rank : ranks)
      if (rank.rank == exit.rank) rank.exit.node = exit.node;
}

// The fold that a row of `phase` or `label_count` belongs to; nullptr when there is none (an edited database).
protocol::PhasePeaks* phases_of(RankRows& rank, const PhaseRow& row) {
  if (row.source == "model") return rank.model ? &rank.model->phases : nullptr;
  if (row.source == "oom") return rank.oom ? &rank.oom->phases : nullptr;
  return row.step < static_cast<std::int64_t>(rank.steps.size()) ? &rank.steps[static_cast<std::size_t>(row.step)].phases : nullptr;
}

protocol::LabelCounts* counts_of(RankRows& rank, const LabelCountRow& row) {
  if (row.count_of == "sites") return rank.model ? &rank.model->sites : nullptr;
  if (row.count_of == "sites_available") return rank.model ? &rank.model->sites_available : nullptr;
  return row.step < static_cast<std::int64_t>(rank.steps.size()) ? &rank.steps[static_cast<std::size_t>(row.step)].replays : nullptr;
}

void select_rank_parts(Database& database, const Key& key, RankRows& rank) {
  rank.exit.rank = rank.rank;
  rank.stages = select_rows<protocol::StageRecord>(database, "stage", key, "position");
  rank.steps = select_rows<protocol::StepRecord>(database, "step", key, "step");
  rank.errors = select_rows<protocol::ErrorRecord>(database, "rank_error", key, "position");
  for (protocol::OomRecord& oom : select_rows<protocol::OomRecord>(database, "rank_oom", key, "rank")) rank.oom = std::move(oom);
  for (const PhaseRow& row : select_rows<PhaseRow>(database, "phase", key, "source, step, phase"))
    if (protocol::PhasePeaks* phases = phases_of(rank, row)) (*phases)[row.phase] = row.peak;
  for (const LabelCountRow& row : select_rows<LabelCountRow>(database, "label_count", key, "count_of, step, label"))
    if (protocol::LabelCounts* counts = counts_of(rank, row)) (*counts)[row.label] = row.num;
  select_attributions(database, key, rank);
  select_last_step(database, key, rank);
}

// nullopt: the plan's, or none that could be read.
std::optional<std::string> own_document(Database& database, const AttemptRows& attempt) {
  if (attempt.trial.arm.empty()) return std::nullopt;
  std::string document = protocol::to_json(attempt.trial).dump();
  const Key trial = {{"study_id", attempt.study_id}, {"trial_id", attempt.trial.trial_id}};
  for (const ValueRow& planned : select_values(database, "trial", {"document"}, trial, "trial_id"))
    if (planned.front() == Value(document)) return std::nullopt;
  return document;
}

AttemptRows select_attempt(Database& database, const protocol::Trial& trial, const std::string& study_id, std::int64_t attempt) {
  AttemptRows rows;
  rows.trial = trial;
  rows.study_id = study_id;
  rows.attempt = attempt;
  const Key key = attempt_key(study_id, trial.trial_id, attempt);
  const ValueRow documents = select_values(database, "attempt", {"launch_document", "trial_document"}, key, "attempt").front();
  std::string launch_document;
  from_value(documents[0], launch_document);
  rows.launch = protocol::parse_launch_record(nlohmann::json::parse(launch_document));
  std::optional<std::string> trial_document;
  from_value(documents[1], trial_document);
  if (trial_document) rows.trial = protocol::parse_trial(nlohmann::json::parse(*trial_document));
  rows.ranks = select_rows<RankRows>(database, "rank", key, "rank");
  take_nodes(rows.launch, rows.ranks);
  for (RankRows& rank : rows.ranks) select_rank_parts(database, with(key, "rank", rank.rank), rank);
  for (base::Failure& failure : select_rows<base::Failure>(database, "failure", key, "attempt")) rows.failure = std::move(failure);
  return rows;
}

}  // namespace

void insert_attempt(Database& database, const AttemptRows& attempt) {
  const Key key = attempt_key(attempt.study_id, attempt.trial.trial_id, attempt.attempt);
  database.run("DELETE FROM attempt WHERE study_id = ? AND trial_id = ? AND attempt = ?", {key[0].second, key[1].second, key[2].second});
  ColumnWriter columns;
  columns("host", attempt.launch.host);
  columns("launch_end", std::string(protocol::to_string(attempt.launch.end)));
  columns("start_unix_ns", attempt.launch.start_unix_ns);
  columns("end_unix_ns", attempt.launch.end_unix_ns);
  columns("strays_ended", attempt.launch.strays_ended);
  const auto& allocation = attempt.launch.allocation;
  columns("job_id", allocation ? std::optional(allocation->job_id) : std::nullopt);
  columns("array_job_id", allocation ? allocation->array_job_id : std::nullopt);
  columns("array_task_id", allocation ? allocation->array_task_id : std::nullopt);
  columns("restart_count", allocation ? std::optional(allocation->restart_count) : std::nullopt);
  columns("runner", allocation ? allocation->runner : std::nullopt);
  columns("world_size", attempt.trial.parallel.world_size);
  columns("launch_document", protocol::to_json(attempt.launch).dump());
  columns("trial_document", own_document(database, attempt));
  insert_values(database, "attempt", key, columns, OnConflict::kFail);
  for (const RankRows& rank : attempt.ranks) {
    insert_rank(database, key, rank);
    put_place(database, key, attempt, rank);
  }
  if (attempt.failure) insert_row(database, "failure", key, *attempt.failure);
}

std::vector<AttemptRows> select_attempts(Database& database, const base::StudyPlan& plan) {
  std::vector<AttemptRows> attempts;
  for (const protocol::Trial& trial : plan.trials) {
    const Key key = {{"study_id", plan.study_id}, {"trial_id", trial.trial_id}};
    for (const ValueRow& row : select_values(database, "attempt", {"attempt"}, key, "attempt"))
      attempts.push_back(select_attempt(database, trial, plan.study_id, std::get<std::int64_t>(row.front())));
  }
  auto order = [](const AttemptRows& rows) { return std::tuple(rows.trial.block, rows.trial.slot, rows.attempt); };
  std::stable_sort(attempts.begin(), attempts.end(), [&](const AttemptRows& a, const AttemptRows& b) { return order(a) < order(b); });
  return attempts;
}

}  // namespace rematch::store

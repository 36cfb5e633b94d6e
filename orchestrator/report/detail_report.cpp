#include <algorithm>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/report/attribution_tables.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/communication_table.h"
#include "orchestrator/report/detail_tables.h"
#include "orchestrator/report/moved_table.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/report/study_facts.h"

namespace rematch::report {

namespace {

using base::AttemptRows;
using protocol::Trial;

std::string listed(const std::optional<std::vector<std::string>>& modules) {
  if (!modules) return "unset";
  std::string text;
  for (const std::string& module : *modules) text += (text.empty() ? "" : ", ") + module;
  return "[" + text + "]";
}

std::string recompute_text(const protocol::RecomputeSpec& recompute) {
  std::string text = "recompute_granularity=" + recompute.recompute_granularity.value_or("null") +
                     " recompute_modules=" + listed(recompute.recompute_modules);
  if (recompute.recompute_method) text += " recompute_method=" + *recompute.recompute_method;
  if (recompute.recompute_num_layers) text += " recompute_num_layers=" + std::to_string(*recompute.recompute_num_layers);
  if (recompute.distribute_saved_activations) text += " distribute_saved_activations=true";
  return text;
}

struct FieldText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const { return std::to_string(number); }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const std::vector<std::int64_t>& numbers) const {
    std::string text;
    for (std::int64_t number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
    return text;
  }
};

Table settings_table(const Trial& trial) {
  using Field = std::pair<std::string, std::string>;
  std::vector<Field> fields;
  for (const auto& [name, value] : trial.model.fields) fields.emplace_back(name, std::visit(FieldText{}, value));
  const std::vector<ColumnOf<Field>> columns = {
      {{"field", "field"}, [](const Field& field) { return text_cell(field.first); }},
      {{"value", "value"}, [](const Field& field) { return text_cell(field.second); }},
  };
  return table_of("model_fields", "Model", columns, fields);
}

void add_failure_facts(const base::Failure& failure, std::vector<Fact>& facts) {
  facts.push_back({"failure_kind", "failure", name_cell(failure.kind)});
  facts.push_back({"failure_stage", "stage", name_cell(failure.stage)});
  facts.push_back({"failure_step", "step", cell_of<Count>(failure.step)});
  facts.push_back({"failure_phase", "phase", name_cell(failure.phase)});
  facts.push_back({"failure_rank", "rank", Count{failure.rank}});
  facts.push_back({"failure_host", "host", text_cell(failure.host)});
  facts.push_back({"requested_bytes", "requested", cell_of<Bytes>(failure.requested_bytes)});
  facts.push_back({"allocated_bytes", "allocated", cell_of<Bytes>(failure.allocated_bytes)});
  facts.push_back({"reserved_bytes", "reserved", cell_of<Bytes>(failure.reserved_bytes)});
  facts.push_back({"limit_bytes", "limit", cell_of<Bytes>(failure.capacity_bytes)});
  facts.push_back({"message", "message", text_cell(failure.message)});
}

std::string job_text(const protocol::Allocation& allocation) {
  std::string text = std::to_string(allocation.job_id);
  if (allocation.array_job_id && allocation.array_task_id)
    text += ", element " + std::to_string(*allocation.array_task_id) + " of array " + std::to_string(*allocation.array_job_id);
  if (allocation.restart_count > 0) text += ", requeued " + std::to_string(allocation.restart_count) + " times";
  return text;
}

void add_place_facts(const protocol::LaunchRecord& launch, std::vector<Fact>& facts) {
  std::string nodes;
  for (const protocol::LaunchNode& node : launch.nodes) nodes += (nodes.empty() ? "" : ", ") + node.node;
  facts.push_back({"nodes", "nodes", text_cell(nodes)});
  if (!launch.allocation) return;
  facts.push_back({"job", "Slurm job", text_cell(job_text(*launch.allocation))});
  facts.push_back({"runner", "runner", launch.allocation->runner ? text_cell(*launch.allocation->runner) : Cell{}});
}

std::vector<Fact> attempt_facts(const AttemptRows& attempt) {
  const Trial& trial = attempt.trial;
  std::vector<Fact> facts = {
      {"trial_id", "trial", text_cell(trial.trial_id)},
      {"attempt", "attempt", Count{attempt.attempt}},
      {"group_id", "group", text_cell(trial.group_id)},
      {"arm", "arm", text_cell(trial.arm)},
      {"recompute", "recompute", text_cell(recompute_text(trial.recompute))},
      {"block", "block", Count{trial.block}},
      {"slot", "slot", Count{trial.slot}},
      {"launch_end", "ended", text_cell(protocol::to_string(attempt.launch.end))},
      {"launch_message", "launch message", text_cell(attempt.launch.message)},
      {"strays_ended", "strays ended", Count{attempt.launch.strays_ended}},
      {"replay_command", "replay, in a copy of its folder", text_cell(replay_command(attempt))},
  };
  if (attempt.launch.allocation || attempt.launch.nodes.size() > 1) add_place_facts(attempt.launch, facts);
  if (!attempt.ranks.empty() && attempt.ranks.front().hello) {
    const protocol::HelloRecord& hello = *attempt.ranks.front().hello;
    facts.push_back({"resolved", "resolved to", text_cell(recompute_text(hello.resolved_recompute))});
    facts.push_back({"device", "device", text_cell(hello.device_name)});
    facts.push_back({"provenance", "provenance", name_cell(hello.provenance)});
    facts.push_back({"trainer_build", "trainer build", text_cell(hello.build_id)});
  }
  if (attempt.failure) add_failure_facts(*attempt.failure, facts);
  return facts;
}

// Trials of the arm of this name, else the trials whose id begins so.
std::vector<std::string> find_trials(const base::StudyPlan& plan, const std::string& trial_or_arm) {
  std::vector<std::string> of_arm;
  std::vector<std::string> by_id;
  for (const Trial& trial : plan.trials) {
    if (trial.arm == trial_or_arm) of_arm.push_back(trial.trial_id);
    if (trial.trial_id.starts_with(trial_or_arm)) by_id.push_back(trial.trial_id);
  }
  return of_arm.empty() ? by_id : of_arm;
}

std::string known_arms(const base::StudyPlan& plan) {
  std::string names;
  for (const base::ArmRow& arm : plan.arms) names += (names.empty() ? "" : ", ") + arm.arm;
  return names;
}

std::vector<base::ArmVerdict> arms_named(const std::vector<base::ArmVerdict>& arms, const std::string& name) {
  std::vector<base::ArmVerdict> named;
  std::copy_if(arms.begin(), arms.end(), std::back_inserter(named), [&](const base::ArmVerdict& arm) { return arm.arm == name; });
  return named;
}

}  // namespace

base::Result<ReportModel> make_detail_report(const base::StudyRows& study, const base::StudyVerdict& verdict,
                                             const std::string& trial_or_arm) {
  const std::string in_study = " in study " + study_title(study.plan);
  const base::ArmRow* arm = base::find_arm(study.plan, trial_or_arm);
  if (arm != nullptr && arm->status != base::ArmStatus::kPlanned)
    return base::Error{"arm " + trial_or_arm + in_study + " was not run: it is " + std::string(base::to_string(arm->status)) + ": " +
                       arm->reason};
  const std::vector<std::string> trials = find_trials(study.plan, trial_or_arm);
  if (trial_or_arm.empty() || trials.empty())
    return base::Error{"no arm or trial '" + trial_or_arm + "'" + in_study + "; its arms are: " + known_arms(study.plan)};
  if (arm == nullptr && trials.size() > 1)
    return base::Error{"'" + trial_or_arm + "' begins " + std::to_string(trials.size()) + " trial ids" + in_study + "; give more of it"};

  ReportModel model;
  model.title = (arm != nullptr ? "Arm " : "Trial ") + trial_or_arm + in_study;
  std::vector<base::RunVerdict> runs;
  std::optional<std::size_t> shown;  // the last attempt of the first of these trials that has one
  for (std::size_t i = 0; i < study.attempts.size(); ++i) {
    const AttemptRows& attempt = study.attempts[i];
    if (std::count(trials.begin(), trials.end(), attempt.trial.trial_id) == 0) continue;
    runs.push_back(verdict.runs[i]);
    if (!shown || study.attempts[*shown].trial.trial_id == attempt.trial.trial_id) shown = i;
  }
  if (!shown) return base::Error{model.title + " has no attempt yet: `rematch run` starts it"};
  model.tables.push_back(runs_table(study.plan, runs));
  if (Table moved = moved_table(study.plan, arms_named(verdict.arms, study.attempts[*shown].trial.arm)); !moved.rows.empty())
    model.tables.push_back(std::move(moved));
  const AttemptRows& attempt = study.attempts[*shown];
  model.header = attempt_facts(attempt);
  for (Fact& fact : replayed_communication_facts(attempt)) model.header.push_back(std::move(fact));
  for (Table& table : attempt_tables(attempt)) model.tables.push_back(std::move(table));
  model.tables.push_back(settings_table(attempt.trial));
  if (const auto note = attribution_note(attempt)) model.notes.push_back(base::with_id(note->id, note->text));
  return model;
}

}  // namespace rematch::report

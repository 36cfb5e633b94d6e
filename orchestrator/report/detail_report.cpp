#include <algorithm>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/report/attribution_tables.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/communication_table.h"
#include "orchestrator/report/detail.h"
#include "orchestrator/report/detail_tables.h"
#include "orchestrator/report/moved_table.h"
#include "orchestrator/report/outcome_cell.h"
#include "orchestrator/report/report_model.h"
#include "orchestrator/report/study_facts.h"
#include "orchestrator/report/verdict_line_tables.h"

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

std::string known_arms(const base::StudyPlan& plan) {
  std::string names;
  for (const base::ArmRow& arm : plan.arms) names += (names.empty() ? "" : ", ") + arm.arm;
  return names;
}

std::vector<TrialName> beginning_with(const base::StudyPlan& plan, const std::string& key) {
  std::vector<TrialName> names;
  for (const Trial& trial : plan.trials)
    if (!key.empty() && trial.trial_id.starts_with(key)) names.push_back({trial.arm, trial.trial_id});
  return names;
}

bool passed_or_was_stopped(const base::RunVerdict& run) {
  return run.outcome == base::Outcome::kPass || run.outcome == base::Outcome::kInterrupted || run.outcome == base::Outcome::kLost;
}

// What the arm comes to, then what the run shown does, then the rest of what the arm does.
std::vector<rules::VerdictLine> lines_of(const Detail& detail) {
  std::vector<rules::VerdictLine> lines;
  std::vector<rules::VerdictLine> rest;
  for (const rules::VerdictLine& line : detail.arm_lines) (line.about == "outcome" ? lines : rest).push_back(line);
  if (!detail.subject.trial_id.empty() && !lines.empty()) lines.front().about = "outcome of its arm";
  if (detail.shown != nullptr && detail.shown_run != nullptr) {
    const base::RunVerdict& run = *detail.shown_run;
    const std::string place = "block " + std::to_string(run.block) + ", slot " + std::to_string(run.slot) + ", attempt " +
                              std::to_string(run.attempt) + ", trial " + run.trial_id;
    lines.push_back({"run", std::get<std::string>(outcome_cell(run.outcome, *detail.plan)), place + "; what follows is of this run"});
    for (rules::VerdictLine& line : rules::run_lines(*detail.shown, run)) lines.push_back(std::move(line));
  }
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

// "pass; memory lower; time undecided"
std::string summary_of(const std::vector<rules::VerdictLine>& lines) {
  std::string text;
  for (const rules::VerdictLine& line : lines) {
    if (line.about == "outcome") text = line.word;
    if (line.about == "memory" || line.about == "time") text += "; " + line.about + " " + line.word;
  }
  return text;
}

std::vector<Fact> verdict_facts(const Detail& detail) {
  const bool is_trial = !detail.subject.trial_id.empty() && detail.shown_run != nullptr;
  const std::string own = is_trial ? std::get<std::string>(outcome_cell(detail.shown_run->outcome, *detail.plan)) + "; its arm: " : "";
  std::vector<Fact> facts = {{"verdict", "verdict", text_cell(own + summary_of(detail.arm_lines))}};
  for (const rules::VerdictLine& line : detail.arm_lines)
    if (line.about == "next") facts.push_back({"next_command", "next", text_cell(line.word)});
  return facts;
}

}  // namespace

base::Result<DetailSubject> find_detail_subject(const base::StudyPlan& plan, const std::string& key,
                                                const std::vector<TrialName>& beginning_so) {
  if (const base::ArmRow* arm = base::find_arm(plan, key)) return DetailSubject{arm->arm, ""};
  const std::string in_study = " in study " + plan.name;
  if (beginning_so.empty()) return base::Error{"no arm or trial '" + key + "'" + in_study + "; its arms are: " + known_arms(plan)};
  if (beginning_so.size() > 1)
    return base::Error{"'" + key + "' begins " + std::to_string(beginning_so.size()) + " trial ids" + in_study + "; give more of it"};
  return DetailSubject{beginning_so.front().arm, beginning_so.front().trial_id};
}

std::optional<std::size_t> telling_run(const std::vector<base::RunVerdict>& runs) {
  const auto bad = std::find_if_not(runs.begin(), runs.end(), passed_or_was_stopped);
  if (bad != runs.end()) return static_cast<std::size_t>(bad - runs.begin());
  std::optional<std::size_t> shown;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!shown || runs[*shown].trial_id == runs[i].trial_id) shown = i;
  return shown;
}

ReportModel make_detail_model(const Detail& detail) {
  ReportModel model;
  model.title = (detail.subject.trial_id.empty() ? "Arm " : "Trial ") + detail.subject.name() + " in study " + study_title(*detail.plan);
  model.header = verdict_facts(detail);
  model.tables.push_back(verdict_lines_table(lines_of(detail)));
  if (detail.shown == nullptr) return model;
  model.tables.push_back(runs_table(*detail.plan, detail.runs));
  if (!detail.moved.rows.empty()) model.tables.push_back(detail.moved);
  const AttemptRows& attempt = *detail.shown;
  for (Fact& fact : attempt_facts(attempt)) model.header.push_back(std::move(fact));
  for (Fact& fact : replayed_communication_facts(attempt)) model.header.push_back(std::move(fact));
  for (Table& table : attempt_tables(attempt)) model.tables.push_back(std::move(table));
  model.tables.push_back(settings_table(attempt.trial));
  if (const auto note = attribution_note(attempt)) model.notes.push_back(base::with_id(note->id, note->text));
  return model;
}

base::Result<ReportModel> make_detail_report(const base::StudyRows& study, const base::StudyVerdict& verdict,
                                             const std::string& trial_or_arm) {
  const auto subject = find_detail_subject(study.plan, trial_or_arm, beginning_with(study.plan, trial_or_arm));
  if (!subject) return subject.error();
  Detail detail;
  detail.subject = subject.value();
  detail.plan = &study.plan;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < study.attempts.size(); ++i) {
    const Trial& trial = study.attempts[i].trial;
    if (detail.subject.trial_id.empty() ? trial.arm != detail.subject.arm : trial.trial_id != detail.subject.trial_id) continue;
    indices.push_back(i);
    detail.runs.push_back(verdict.runs[i]);
  }
  if (const auto shown = telling_run(detail.runs)) {
    detail.shown = &study.attempts[indices[*shown]];
    detail.shown_run = &detail.runs[*shown];
  }
  if (const base::ArmVerdict* arm = base::find_arm(verdict, detail.subject.arm)) {
    detail.arm_lines = rules::arm_lines(study.plan, verdict, *arm);
    detail.moved = moved_table(study.plan, {*arm});
  }
  return make_detail_model(detail);
}

}  // namespace rematch::report

#include "orchestrator/report/detail_tables.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "orchestrator/report/attribution_tables.h"
#include "orchestrator/report/cells.h"
#include "orchestrator/report/communication_table.h"
#include "orchestrator/report/outcome_cell.h"
#include "orchestrator/rules/rank_peak.h"

namespace rematch::report {

namespace {

using base::RankRows;
using base::RunVerdict;

Cell exit_cell(const protocol::RankExit& exit) {
  if (exit.exit_code) return std::to_string(*exit.exit_code);
  if (exit.signal) return "signal " + std::to_string(*exit.signal) + (exit.ended_by_supervisor ? " by the supervisor" : "");
  return {};
}

// The rank, and of a prediction how many others it stands for.
template <typename Row, typename RankOf>
std::vector<ColumnOf<Row>> with_rank(const base::AttemptRows& attempt, RankOf rank_of, std::vector<ColumnOf<Row>> others) {
  std::vector<ColumnOf<Row>> columns = {{{"rank", "rank"}, [=](const Row& r) { return Cell{Count{rank_of(r)}}; }}};
  if (attempt.trial.prediction)
    columns.push_back({{"num_alike", "others alike"},
                       [=, counts = base::alike_counts(attempt.trial)](const Row& r) { return Cell{Count{counts.at(rank_of(r))}}; }});
  columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

// A time that a rank took; on the meta device it is nobody's.
Cell time_cell(const base::AttemptRows& attempt, std::optional<double> duration_ns) {
  return base::is_predicted(attempt.trial) ? Cell{} : cell_of<Nanoseconds>(duration_ns);
}

// nullptr: the launch record does not tell.
const protocol::LaunchNode* node_of(const base::AttemptRows& attempt, const RankRows& rank) {
  const auto index = static_cast<std::size_t>(rank.exit.node);
  return index < attempt.launch.nodes.size() ? &attempt.launch.nodes[index] : nullptr;
}

Table ranks_table(const base::AttemptRows& attempt) {
  struct Row {
    const RankRows* rank;
    base::RankPeak peak;
  };
  std::vector<Row> rows;
  for (const RankRows& rank : attempt.ranks) rows.push_back({&rank, rules::peak_of_rank(rank)});
  auto measured = [](const Row& row, const Cell& cell) { return row.peak.binding_phase ? cell : Cell{}; };
  std::vector<ColumnOf<Row>> columns;
  if (attempt.launch.allocation || attempt.launch.nodes.size() > 1) {
    columns.push_back({{"node", "node"}, [&](const Row& r) {
                         const auto* node = node_of(attempt, *r.rank);
                         return node != nullptr ? text_cell(node->node) : Cell{};
                       }});
    columns.push_back({{"visible_devices", "devices"}, [&](const Row& r) {
                         const auto* node = node_of(attempt, *r.rank);
                         return node != nullptr && node->visible_devices ? text_cell(*node->visible_devices) : Cell{};
                       }});
  }
  const std::vector<ColumnOf<Row>> of_each = {
      {{"host", "host"}, [](const Row& r) { return r.rank->hello ? text_cell(r.rank->hello->host) : Cell{}; }},
      {{"pid", "pid"}, [](const Row& r) { return r.rank->exit.pid == 0 ? Cell{} : Cell{Count{r.rank->exit.pid}}; }},
      {{"exit", "exit"}, [](const Row& r) { return exit_cell(r.rank->exit); }},
      {{"record", "record"}, [](const Row& r) { return text_cell(r.rank->record_complete ? "complete" : "not complete"); }},
      {{"steps_completed", "steps"}, [](const Row& r) { return Cell{Count{static_cast<std::int64_t>(r.rank->steps.size())}}; }},
      {{"num_parameters_local", "parameters"},
       [](const Row& r) { return r.rank->model ? Cell{Count{r.rank->model->num_parameters_local}} : Cell{}; }},
      {{"peak_allocated_bytes", "peak allocated"}, [=](const Row& r) { return measured(r, Bytes{r.peak.allocated_bytes}); }},
      {{"peak_reserved_bytes", "peak reserved"}, [=](const Row& r) { return measured(r, Bytes{r.peak.reserved_bytes}); }},
      {{"binding_phase", "binding phase"}, [](const Row& r) { return name_cell(r.peak.binding_phase); }},
  };
  columns.insert(columns.end(), of_each.begin(), of_each.end());
  const auto rank_of = [](const Row& r) { return r.rank->rank; };
  return table_of("ranks", "Ranks", with_rank(attempt, rank_of, columns), rows);
}

Table ledger_table(const base::AttemptRows& attempt) {
  struct Row {
    std::int64_t rank;
    protocol::StageRecord entered;
    std::optional<double> duration_ns;  // nullopt: entered and not left
  };
  std::vector<Row> rows;
  for (const RankRows& rank : attempt.ranks) {
    const std::size_t first = rows.size();
    for (const protocol::StageRecord& record : rank.stages) {
      if (record.event == protocol::StageEvent::kEnter) rows.push_back({rank.rank, record, std::nullopt});
      auto is_open = [&](const Row& row) { return row.entered.stage == record.stage && !row.duration_ns; };
      auto row = std::find_if(rows.rbegin(), rows.rend() - static_cast<std::ptrdiff_t>(first), is_open);
      if (record.event == protocol::StageEvent::kLeave && row != rows.rend() - static_cast<std::ptrdiff_t>(first))
        row->duration_ns = static_cast<double>(record.mono_ns - row->entered.mono_ns);
    }
  }
  const std::vector<ColumnOf<Row>> columns = {
      {{"stage", "stage"}, [](const Row& r) { return name_cell(r.entered.stage); }},
      {{"step", "step"}, [](const Row& r) { return cell_of<Count>(r.entered.step); }},
      {{"entered_mono_ns", "entered", Place::kDataOnly}, [](const Row& r) { return Cell{Count{r.entered.mono_ns}}; }},
      {{"duration_ns", "duration"}, [&](const Row& r) { return time_cell(attempt, r.duration_ns); }},
      {{"ended", "ended"}, [](const Row& r) { return text_cell(r.duration_ns ? "left" : "not left"); }},
  };
  return table_of("stages", "Stage ledger",
                  with_rank(
                      attempt, [](const Row& r) { return r.rank; }, columns),
                  rows);
}

struct PhaseRow {
  std::int64_t rank;
  protocol::Phase phase;
  protocol::PhasePeak peak;  // largest over steps
};

void fold_phases(const protocol::PhasePeaks& phases, std::map<protocol::Phase, protocol::PhasePeak>& largest) {
  for (const auto& [phase, peak] : phases) {
    protocol::PhasePeak& so_far = largest[phase];
    so_far.duration_ns = std::max(so_far.duration_ns, peak.duration_ns);
    so_far.peak_allocated_bytes = std::max(so_far.peak_allocated_bytes, peak.peak_allocated_bytes);
    so_far.peak_reserved_bytes = std::max(so_far.peak_reserved_bytes, peak.peak_reserved_bytes);
  }
}

Table phases_table(const base::AttemptRows& attempt) {
  std::vector<PhaseRow> rows;
  for (const RankRows& rank : attempt.ranks) {
    std::map<protocol::Phase, protocol::PhasePeak> largest;
    if (rank.model) fold_phases(rank.model->phases, largest);
    for (const protocol::StepRecord& step : rank.steps) fold_phases(step.phases, largest);
    if (rank.oom) fold_phases(rank.oom->phases, largest);
    for (const auto& [phase, peak] : largest) rows.push_back({rank.rank, phase, peak});
  }
  const std::vector<ColumnOf<PhaseRow>> columns = {
      {{"phase", "phase"}, [](const PhaseRow& r) { return name_cell(r.phase); }},
      {{"peak_allocated_bytes", "peak allocated"}, [](const PhaseRow& r) { return Cell{Bytes{r.peak.peak_allocated_bytes}}; }},
      {{"peak_reserved_bytes", "peak reserved"}, [](const PhaseRow& r) { return Cell{Bytes{r.peak.peak_reserved_bytes}}; }},
      {{"longest_duration_ns", "longest"}, [&](const PhaseRow& r) { return time_cell(attempt, static_cast<double>(r.peak.duration_ns)); }},
  };
  return table_of("phases", "Peaks by phase, largest of all steps",
                  with_rank(
                      attempt, [](const PhaseRow& r) { return r.rank; }, columns),
                  rows);
}

Table steps_table(const base::AttemptRows& attempt) {
  struct Row {
    std::int64_t rank;
    const protocol::StepRecord* step;
  };
  std::vector<Row> rows;
  for (const RankRows& rank : attempt.ranks)
    for (const protocol::StepRecord& step : rank.steps) rows.push_back({rank.rank, &step});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.step->step < b.step->step; });
  auto number = [](const std::optional<double>& value) { return value ? Cell{std::to_string(*value)} : Cell{}; };
  const std::vector<ColumnOf<Row>> columns = {
      {{"step_time_ns", "step time"}, [&](const Row& r) { return time_cell(attempt, static_cast<double>(r.step->step_time_ns)); }},
      {{"loss", "loss"}, [=](const Row& r) { return number(r.step->loss); }},
      {{"loss_bits", "loss bits"}, [](const Row& r) { return text_cell(r.step->loss_bits); }},
      {{"grad_norm", "gradient norm"}, [=](const Row& r) { return number(r.step->grad_norm); }},
      {{"lifetime_peak_allocated_bytes", "lifetime peak"}, [](const Row& r) { return Cell{Bytes{r.step->lifetime_peak_allocated_bytes}}; }},
      {{"held_after_forward_bytes", "held after forward"}, [](const Row& r) { return Cell{Bytes{r.step->forward_end_allocated_bytes}}; }},
      {{"num_alloc_retries", "retries"}, [](const Row& r) { return Cell{Count{r.step->num_alloc_retries}}; }},
  };
  std::vector<ColumnOf<Row>> all = with_rank(
      attempt, [](const Row& r) { return r.rank; }, columns);
  all.insert(all.begin(), {{"step", "step"}, [](const Row& r) { return Cell{Count{r.step->step}}; }});
  return table_of("steps", "Steps", all, rows);
}

Table labels_table(const base::AttemptRows& attempt) {
  struct Row {
    std::string label;
    std::int64_t sites = 0;
    std::int64_t available = 0;
    std::int64_t replays = 0;  // over all steps and ranks
  };
  std::map<std::string, Row> by_label;
  for (const RankRows& rank : attempt.ranks) {
    if (!rank.model) continue;
    for (const auto& [label, num] : rank.model->sites_available) by_label[label].available += num;
    for (const auto& [label, num] : rank.model->sites) by_label[label].sites += num;
    for (const protocol::StepRecord& step : rank.steps)
      for (const auto& [label, num] : step.replays) by_label[label].replays += num;
  }
  std::vector<Row> rows;
  for (auto& [label, row] : by_label) {
    row.label = label;
    rows.push_back(row);
  }
  const std::vector<ColumnOf<Row>> columns = {
      {{"label", "label"}, [](const Row& r) { return text_cell(r.label); }},
      {{"sites_available", "regions in the model"}, [](const Row& r) { return Cell{Count{r.available}}; }},
      {{"sites", "wrapped"}, [](const Row& r) { return Cell{Count{r.sites}}; }},
      {{"replays", "replays, all steps"}, [](const Row& r) { return Cell{Count{r.replays}}; }},
  };
  return table_of("labels", "Labels, all ranks", columns, rows);
}

Table messages_table(const base::AttemptRows& attempt) {
  struct Row {
    std::int64_t rank;
    std::string from;
    std::string message;
  };
  std::vector<Row> rows;
  for (const RankRows& rank : attempt.ranks) {
    if (rank.oom) rows.push_back({rank.rank, "oom at " + rank.oom->scope, rank.oom->message});
    for (const protocol::ErrorRecord& error : rank.errors)
      rows.push_back({rank.rank, std::string(protocol::to_string(error.kind)), error.message});
    for (const std::string& problem : rank.record_problems) rows.push_back({rank.rank, "record", problem});
  }
  const std::vector<ColumnOf<Row>> columns = {
      {{"from", "from"}, [](const Row& r) { return text_cell(r.from); }},
      {{"message", "message"}, [](const Row& r) { return text_cell(r.message); }},
  };
  return table_of("messages", "Messages",
                  with_rank(
                      attempt, [](const Row& r) { return r.rank; }, columns),
                  rows);
}

}  // namespace

std::vector<Table> attempt_tables(const base::AttemptRows& attempt) {
  std::vector<Table> all = {ranks_table(attempt), phases_table(attempt)};
  for (Table& table : attribution_tables(attempt)) all.push_back(std::move(table));
  for (Table& table : std::vector<Table>{communication_table(attempt), ledger_table(attempt), labels_table(attempt), steps_table(attempt),
                                         messages_table(attempt)})
    all.push_back(std::move(table));
  std::vector<Table> tables;
  for (Table& table : all)
    if (!table.rows.empty()) tables.push_back(std::move(table));
  if (!tables.empty()) tables.front().in_csv = true;
  return tables;
}

Table runs_table(const base::StudyPlan& plan, const std::vector<RunVerdict>& runs) {
  auto reason = [](const RunVerdict& run) {
    std::string text = run.failure ? run.failure->message : "";
    for (const base::Shortfall& shortfall : run.shortfalls) text += (text.empty() ? "" : "; ") + shortfall.rule + ": " + shortfall.message;
    return text_cell(text);
  };
  const std::vector<ColumnOf<RunVerdict>> columns = {
      {{"trial_id", "trial"}, [](const RunVerdict& r) { return text_cell(r.trial_id); }},
      {{"attempt", "attempt"}, [](const RunVerdict& r) { return Cell{Count{r.attempt}}; }},
      {{"block", "block"}, [](const RunVerdict& r) { return Cell{Count{r.block}}; }},
      {{"slot", "slot"}, [](const RunVerdict& r) { return Cell{Count{r.slot}}; }},
      {{"outcome", "outcome"}, [&](const RunVerdict& r) { return outcome_cell(r.outcome, plan); }},
      {{"hot_rank", "hot rank"}, [](const RunVerdict& r) { return r.figures ? Cell{Count{r.figures->hot.rank}} : Cell{}; }},
      {{"peak_allocated_bytes", "peak allocated"},
       [](const RunVerdict& r) { return r.figures ? Cell{Bytes{r.figures->hot.allocated_bytes}} : Cell{}; }},
      {{"first_steady_step", "steady from step"},
       [](const RunVerdict& r) {
         return r.figures && r.figures->median_step_time_ns ? Cell{Count{r.figures->first_steady_step}} : Cell{};
       }},
      {{"step_time_ns", "step time"},
       [](const RunVerdict& r) { return r.figures ? cell_of<Nanoseconds>(r.figures->median_step_time_ns) : Cell{}; }},
      {{"loss_basis", "losses equal to"}, [](const RunVerdict& r) { return text_cell(r.loss_basis); }},
      {{"reason", "reason"}, reason},
  };
  return table_of("runs", "Runs", columns, runs);
}

}  // namespace rematch::report

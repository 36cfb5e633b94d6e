#include "orchestrator/collect/rank_rows.h"

#include <utility>
#include <variant>

#include "schemas/protocol/record_file.h"

namespace rematch::collect {

namespace {

struct Fold {
  base::RankRows& rows;
  void operator()(protocol::HelloRecord& record) const { rows.hello = std::move(record); }
  void operator()(protocol::ModelRecord& record) const { rows.model = std::move(record); }
  void operator()(protocol::StageRecord& record) const { rows.stages.push_back(record); }
  void operator()(protocol::StepRecord& record) const { rows.steps.push_back(std::move(record)); }
  void operator()(protocol::OomRecord& record) const { rows.oom = std::move(record); }
  void operator()(protocol::ErrorRecord& record) const { rows.errors.push_back(std::move(record)); }
  void operator()(protocol::ByeRecord& record) const { rows.bye = record; }
};

void check_identity(base::RankRows& rows, const std::string& trial_id) {
  if (!rows.hello) {
    rows.record_problems.emplace_back("no hello line");
    return;
  }
  if (rows.hello->trial_id != trial_id)
    rows.record_problems.push_back("written for trial " + rows.hello->trial_id + ", found in the folder of trial " + trial_id);
  if (rows.hello->rank != rows.rank)
    rows.record_problems.push_back("written by rank " + std::to_string(rows.hello->rank) + ", found under the name of rank " +
                                   std::to_string(rows.rank));
}

void check_step_order(base::RankRows& rows) {
  for (std::size_t i = 0; i < rows.steps.size(); ++i) {
    if (rows.steps[i].step == static_cast<std::int64_t>(i)) continue;
    rows.record_problems.push_back("step " + std::to_string(i) + " was expected, step " + std::to_string(rows.steps[i].step) +
                                   " was found; steps from there on are not used");
    rows.steps.resize(i);
    return;
  }
}

}  // namespace

base::RankRows read_rank_rows(const std::filesystem::path& record_path, const std::string& trial_id, std::int64_t rank) {
  base::RankRows rows;
  rows.rank = rank;
  rows.exit.rank = rank;
  std::error_code ignored;
  if (!std::filesystem::exists(record_path, ignored)) {
    rows.record_problems.push_back("no record file " + record_path.filename().string());
    return rows;
  }
  protocol::RecordFile file = protocol::read_record_file(record_path);
  for (protocol::RankRecord& record : file.records) std::visit(Fold{rows}, record);
  rows.record_problems = std::move(file.bad_lines);
  if (file.torn_tail) rows.record_problems.emplace_back("the last line is torn");
  check_identity(rows, trial_id);
  check_step_order(rows);
  rows.record_complete = rows.bye.has_value() && rows.record_problems.empty();
  return rows;
}

}  // namespace rematch::collect

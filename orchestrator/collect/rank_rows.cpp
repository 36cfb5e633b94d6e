#include "orchestrator/collect/rank_rows.h"

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "schemas/protocol/record_file.h"

namespace rematch::collect {

namespace {

// Takes the lines in the order of the file. What cannot be is named with its line and left out; the rest is kept.
class Fold {
 public:
  explicit Fold(base::RankRows& rows) : rows_(rows) {}

  void take(std::size_t line_number, protocol::RankRecord& record) {
    line_number_ = line_number;
    if (rows_.bye && !std::holds_alternative<protocol::ByeRecord>(record))
      return complain("stands after the last line (bye), and is not used");
    std::visit([this](auto& each) { (*this)(each); }, record);
  }

  // The steps by their numbers, up to the first that is missing.
  void finish() {
    for (auto& [number, step] : steps_) {
      if (number != static_cast<std::int64_t>(rows_.steps.size())) {
        rows_.record_problems.push_back("step " + std::to_string(rows_.steps.size()) + " was expected, step " + std::to_string(number) +
                                        " was found; steps from there on are not used");
        return;
      }
      rows_.steps.push_back(std::move(step));
    }
  }

 private:
  void operator()(protocol::HelloRecord& record) { put_once(rows_.hello, record, "hello"); }
  void operator()(protocol::ModelRecord& record) { put_once(rows_.model, record, "model"); }
  void operator()(protocol::OomRecord& record) { put_once(rows_.oom, record, "oom"); }
  void operator()(protocol::ByeRecord& record) { put_once(rows_.bye, record, "bye"); }
  void operator()(protocol::ErrorRecord& record) { rows_.errors.push_back(std::move(record)); }

  void operator()(protocol::StageRecord& record) {
    if (!rows_.stages.empty()) {
      const protocol::StageRecord& last = rows_.stages.back();
      const bool is_same = last.stage == record.stage && last.event == record.event && last.step == record.step;
      if (is_same && last.mono_ns == record.mono_ns) return complain("a stage line for the second time, which is not used");
      if (record.mono_ns < last.mono_ns) return complain("a stage line out of order, which is not used");
    }
    rows_.stages.push_back(record);
  }

  void operator()(protocol::StepRecord& record) {
    const std::int64_t number = record.step;
    if (!steps_.empty() && number < steps_.rbegin()->first)
      complain("step " + std::to_string(number) + " stands after step " + std::to_string(steps_.rbegin()->first));
    if (!steps_.try_emplace(number, std::move(record)).second)
      complain("step " + std::to_string(number) + " for the second time, which is not used");
  }

  template <typename Record>
  void put_once(std::optional<Record>& place, Record& record, const char* kind) {
    if (place) return complain(std::string(kind) + " for the second time, which is not used");
    place = std::move(record);
  }

  void complain(const std::string& what) { rows_.record_problems.push_back("line " + std::to_string(line_number_) + ": " + what); }

  base::RankRows& rows_;
  std::size_t line_number_ = 0;
  std::map<std::int64_t, protocol::StepRecord> steps_;
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
  rows.record_problems = std::move(file.bad_lines);
  Fold fold(rows);
  for (std::size_t i = 0; i < file.records.size(); ++i) fold.take(file.line_numbers[i], file.records[i]);
  fold.finish();
  if (file.torn_tail) rows.record_problems.emplace_back("the last line is torn");
  check_identity(rows, trial_id);
  rows.record_complete = rows.bye.has_value() && rows.record_problems.empty();
  return rows;
}

}  // namespace rematch::collect

#include "orchestrator/store/arm_rows.h"

#include <nlohmann/json.hpp>

#include "orchestrator/base/predicted.h"
#include "orchestrator/store/columns.h"

namespace rematch::store {

namespace {

void insert_failure(Database& database, const Key& key, const base::ArmVerdict& arm, const AlikeRanks& alike) {
  const base::Failure& failure = *arm.failure;
  ColumnWriter columns;
  columns("kind", failure.kind);
  columns("stage", failure.stage);
  columns("step", failure.step);
  columns("phase", failure.phase);
  columns("rank", failure.rank);
  columns("num_alike", num_alike(alike, failure.rank));
  columns("host", failure.host);
  columns("requested_bytes", failure.requested_bytes);
  columns("allocated_bytes", failure.allocated_bytes);
  columns("reserved_bytes", failure.reserved_bytes);
  columns("capacity_bytes", failure.capacity_bytes);
  columns("moved_from_arm", arm.moved ? std::optional(arm.moved->against) : std::nullopt);
  insert_values(database, "arm_failure", key, columns, OnConflict::kFail);
}

void insert_comparison(Database& database, const Key& key, const base::FailedComparison& comparison) {
  ColumnWriter columns;
  columns("step", comparison.step);
  columns("peak_delta_bytes", comparison.step ? std::optional(comparison.peak_delta_bytes) : std::nullopt);
  columns("peak_delta_fraction", comparison.step ? comparison.peak_delta_fraction : std::nullopt);
  insert_values(database, "failed_comparison", key, columns, OnConflict::kFail);
}

}  // namespace

AlikeRanks load_alike_ranks(Database& database, const std::string& study_id) {
  const auto rows = database.query("SELECT document FROM trial WHERE study_id = ? ORDER BY run_position LIMIT 1", {study_id});
  if (rows.empty()) return {};
  const protocol::Trial trial = protocol::parse_trial(nlohmann::json::parse(std::get<std::string>(rows.front().front())));
  return base::is_predicted(trial) ? base::alike_counts(trial) : AlikeRanks{};
}

std::optional<std::int64_t> num_alike(const AlikeRanks& alike, std::int64_t rank) {
  if (alike.empty()) return std::nullopt;
  const auto found = alike.find(rank);
  return found == alike.end() ? 0 : found->second;
}

void insert_arm_failures(Database& database, const std::string& study_id, const base::StudyVerdict& verdict, const AlikeRanks& alike) {
  for (const base::ArmVerdict& arm : verdict.arms) {
    const Key key = {{"study_id", study_id}, {"arm", arm.arm}};
    if (arm.failure) insert_failure(database, key, arm, alike);
    if (arm.failed_comparison) insert_comparison(database, key, *arm.failed_comparison);
  }
}

void insert_control_pairs(Database& database, const std::string& study_id, const base::StudyVerdict& verdict) {
  for (const base::GroupVerdict& group : verdict.groups)
    for (std::size_t i = 0; i < group.control_pairs.size(); ++i) {
      ColumnWriter columns;
      columns("block", group.control_pairs[i].block);
      columns("time_difference_fraction", group.control_pairs[i].time_difference_fraction);
      insert_values(database, "control_pair",
                    {{"study_id", study_id}, {"group_id", group.group_id}, {"position", static_cast<std::int64_t>(i)}}, columns,
                    OnConflict::kFail);
    }
}

}  // namespace rematch::store

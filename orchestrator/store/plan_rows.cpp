#include "orchestrator/store/plan_rows.h"

#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/store/columns.h"

namespace rematch::store {

namespace {

template <typename Rows, typename Name>
void delete_all_but(Database& database, const std::string& table, const std::string& name, const std::string& study_id, const Rows& rows,
                    Name name_of) {
  std::vector<std::string> kept;
  for (const auto& row : rows) kept.push_back(name_of(row));
  database.run("DELETE FROM " + table + " WHERE study_id = ? AND " + name + " NOT IN (SELECT value FROM json_each(?))",
               {study_id, to_value(kept)});
}

void upsert_study(Database& database, const base::StudyPlan& plan) {
  ColumnWriter columns;
  columns("name", plan.name);
  columns("sweep_path", plan.sweep_path);
  columns("sweep_text", plan.sweep_text);
  columns("trainer_build_id", plan.trainer_build_id);
  columns("num_blocks", plan.num_blocks);
  columns("budget_per_rank_bytes", plan.budget_per_rank_bytes);
  columns("awaits_decision", base::awaits_decision(plan));
  nlohmann::json document = base::to_json(plan);
  columns("document", document.dump());
  document["trials"] = nlohmann::json::array();
  columns("head", document.dump());
  insert_values(database, "study", {{"study_id", plan.study_id}}, columns, OnConflict::kUpdate);
}

void upsert_arm(Database& database, const base::StudyPlan& plan, std::size_t position) {
  const base::ArmRow& arm = plan.arms[position];
  database.run("INSERT OR IGNORE INTO grp (study_id, group_id) VALUES (?, ?)", {plan.study_id, arm.group_id});
  ColumnWriter columns;
  columns("group_id", arm.group_id);
  columns("position", static_cast<std::int64_t>(position));
  columns("is_control", arm.is_control);
  columns("variation", arm.variation);
  columns("status", std::string(base::to_string(arm.status)));
  columns("reason", arm.reason);
  columns("recompute", arm.recompute);
  insert_values(database, "arm", {{"study_id", plan.study_id}, {"arm", arm.arm}}, columns, OnConflict::kUpdate);
}

void insert_decision(Database& database, const base::StudyPlan& plan, std::size_t position) {
  const base::Decision& decision = plan.decisions[position];
  ColumnWriter columns;
  columns("round", decision.round);
  columns("action", std::string(base::to_string(decision.action)));
  columns("arm", decision.arm);
  columns("reason", decision.reason);
  insert_values(database, "decision", {{"study_id", plan.study_id}, {"position", static_cast<std::int64_t>(position)}}, columns,
                OnConflict::kFail);
}

void upsert_trial(Database& database, const base::StudyPlan& plan, std::size_t position) {
  const protocol::Trial& trial = plan.trials[position];
  ColumnWriter columns;
  columns("group_id", trial.group_id);
  columns("arm", trial.arm);
  columns("is_control", trial.is_control);
  columns("block", trial.block);
  columns("slot", trial.slot);
  columns("run_position", static_cast<std::int64_t>(position));
  columns("document", protocol::to_json(trial).dump());
  insert_values(database, "trial", {{"study_id", plan.study_id}, {"trial_id", trial.trial_id}}, columns, OnConflict::kUpdate);
}

}  // namespace

void upsert_plan(Database& database, const base::StudyPlan& plan) {
  upsert_study(database, plan);
  delete_all_but(database, "trial", "trial_id", plan.study_id, plan.trials, [](const protocol::Trial& trial) { return trial.trial_id; });
  delete_all_but(database, "arm", "arm", plan.study_id, plan.arms, [](const base::ArmRow& arm) { return arm.arm; });
  for (std::size_t i = 0; i < plan.arms.size(); ++i) upsert_arm(database, plan, i);
  for (std::size_t i = 0; i < plan.trials.size(); ++i) upsert_trial(database, plan, i);
  database.run("DELETE FROM decision WHERE study_id = ?", {plan.study_id});
  for (std::size_t i = 0; i < plan.decisions.size(); ++i) insert_decision(database, plan, i);
  delete_all_but(database, "grp", "group_id", plan.study_id, plan.arms, [](const base::ArmRow& arm) { return arm.group_id; });
}

namespace {

// `column` of the study: document | head.
base::StudyPlan parsed_plan(Database& database, const std::string& study_id, const std::string& column) {
  std::string document;
  from_value(select_values(database, "study", {column}, {{"study_id", study_id}}, "study_id").front().front(), document);
  return base::parse_study_plan(nlohmann::json::parse(document));
}

}  // namespace

base::StudyPlan select_plan(Database& database, const std::string& study_id) { return parsed_plan(database, study_id, "document"); }

base::StudyPlan select_plan_head(Database& database, const std::string& study_id) { return parsed_plan(database, study_id, "head"); }

std::vector<protocol::Trial> select_trials(Database& database, const std::string& study_id, const TrialChoice& choice) {
  std::vector<protocol::Trial> trials;
  for (const ValueRow& row :
       database.query("SELECT document FROM trial WHERE study_id = ?1 AND trial_id IN (SELECT trial_id FROM trial "
                      "INDEXED BY trial_of_arm WHERE study_id = ?1 AND arm IN (SELECT value FROM json_each(?2)) UNION "
                      "SELECT value FROM json_each(?3)) ORDER BY run_position",
                      {study_id, to_value(choice.arms), to_value(choice.trial_ids)}))
    trials.push_back(protocol::parse_trial(nlohmann::json::parse(std::get<std::string>(row.front()))));
  return trials;
}

}  // namespace rematch::store

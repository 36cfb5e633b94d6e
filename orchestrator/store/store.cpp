#include "orchestrator/store/store.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "orchestrator/base/planned_provenance.h"
#include "orchestrator/store/attempt_rows.h"
#include "orchestrator/store/attribution_rows.h"
#include "orchestrator/store/columns.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/migrations.h"
#include "orchestrator/store/plan_rows.h"
#include "orchestrator/store/run_rows.h"
#include "orchestrator/store/summary_rows.h"
#include "orchestrator/store/values.h"
#include "orchestrator/store/verdict_rows.h"

namespace rematch::store {

namespace {

bool starts_with_key(const StudySummary& study, const std::string& key) {
  return study.name.starts_with(key) || study.study_id.starts_with(key);
}

std::string listed(const std::vector<StudySummary>& studies) {
  std::string text;
  for (const StudySummary& study : studies) {
    const std::string provenance = study.provenance ? ", " + std::string(protocol::to_string(*study.provenance)) : "";
    text += (text.empty() ? "" : ", ") + study.name + " (" + study.study_id + provenance + ")";
  }
  return text.empty() ? "none" : text;
}

base::Result<StudySummary> pick_study(const std::vector<StudySummary>& studies, const std::string& key) {
  auto is_exact = [&](const StudySummary& study) { return study.study_id == key || study.name == key; };
  std::vector<StudySummary> matching;
  std::copy_if(studies.begin(), studies.end(), std::back_inserter(matching), is_exact);
  if (matching.empty())
    std::copy_if(studies.begin(), studies.end(), std::back_inserter(matching),
                 [&](const auto& study) { return starts_with_key(study, key); });
  if (matching.size() == 1) return matching.front();
  if (matching.empty() && studies.empty()) return base::Error{"the workspace has no study yet: start one with `rematch run SWEEP`"};
  const std::string wanted = key.empty() ? "no study was named" : "'" + key + "' was asked for";
  if (matching.empty()) return base::Error{wanted + " and no study has that name or id; there are: " + listed(studies)};
  return base::Error{wanted + " and several studies match: " + listed(matching) + "; give more of the name or the id"};
}

std::unique_ptr<Database> connect_to_read(const std::filesystem::path& path) {
  auto database = std::make_unique<Database>(path, Access::kReadOnly);
  if (const std::int64_t found = schema_version(*database); found != embedded_migrations().back().version)
    throw StoreError(other_version_text(path, found), StoreProblem::kReadOnly);
  return database;
}

// Of rows that are about to change: the report and the verdicts hold no more.
void forget_judgement(Database& database, const std::string& study_id) {
  database.run("DELETE FROM report WHERE study_id = ?", {study_id});
  delete_verdicts(database, study_id);
}

// Without foreign keys SQLite drops the pages of a table at once; with them it would look at every row. Outside transactions only.
class WithoutForeignKeys {
 public:
  explicit WithoutForeignKeys(Database& database) : database_(database) { database_.execute_script("PRAGMA foreign_keys = OFF"); }
  ~WithoutForeignKeys() { database_.execute_script("PRAGMA foreign_keys = ON"); }
  WithoutForeignKeys(const WithoutForeignKeys&) = delete;
  WithoutForeignKeys& operator=(const WithoutForeignKeys&) = delete;

 private:
  Database& database_;
};

}  // namespace

Store::Store(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Store::~Store() = default;
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;

base::Result<Store> Store::open(const std::filesystem::path& path) {
  try {
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
    if (only_readable(path)) return Store(connect_to_read(path));
    auto database = std::make_unique<Database>(path);
    migrate(*database, path, embedded_migrations());
    return Store(std::move(database));
  } catch (const StoreError& error) {
    return base::Error{error.what()};
  } catch (const std::filesystem::filesystem_error& error) {
    return base::Error{std::string("the database's folder cannot be made: ") + error.what()};
  }
}

base::Result<Store> Store::open_to_read(const std::filesystem::path& path) {
  try {
    return Store(connect_to_read(path));
  } catch (const StoreError& error) {
    return base::Error{error.what()};
  }
}

void Store::put_plan(const base::StudyPlan& plan) {
  Transaction transaction(*database_);
  forget_judgement(*database_, plan.study_id);
  upsert_plan(*database_, plan);
  transaction.commit();
}

void Store::put_attempt(const base::AttemptRows& attempt) {
  Transaction transaction(*database_);
  forget_judgement(*database_, attempt.study_id);
  insert_attempt(*database_, attempt);
  transaction.commit();
}

void Store::put_attempts(const std::vector<base::AttemptRows>& attempts) {
  Transaction transaction(*database_);
  for (const base::AttemptRows& attempt : attempts) {
    forget_judgement(*database_, attempt.study_id);
    insert_attempt(*database_, attempt);
  }
  transaction.commit();
}

void Store::put_verdicts(const std::string& study_id, const base::StudyVerdict& verdict) {
  Transaction transaction(*database_);
  insert_verdicts(*database_, study_id, verdict);
  transaction.commit();
}

void Store::put_report(const std::string& study_id, const StoredReport& report) {
  ColumnWriter columns;
  columns("build_id", report.build_id);
  columns("plan", report.plan);
  columns("model", report.model);
  columns("conclusion", report.conclusion);
  columns("plots", report.plots);
  columns("gate_figures", report.gate_figures);
  insert_values(*database_, "report", {{"study_id", study_id}}, columns, OnConflict::kUpdate);
}

void Store::put_published(const std::string& name, const std::string& document) {
  ColumnWriter columns;
  columns("document", document);
  insert_values(*database_, "published_table", {{"name", name}}, columns, OnConflict::kUpdate);
}

void Store::replace_all(const std::function<void()>& fill) {
  const WithoutForeignKeys faster(*database_);
  Transaction transaction(*database_);
  for (const ValueRow& table : database_->query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"))
    database_->execute_script("DELETE FROM \"" + std::get<std::string>(table.front()) + "\"");
  fill();
  transaction.commit();
}

std::vector<StudySummary> Store::studies() const {
  std::vector<StudySummary> summaries;
  for (const ValueRow& row : database_->query("SELECT study_id, name, (SELECT count(*) FROM trial t WHERE t.study_id = s.study_id),"
                                              " (SELECT count(*) FROM attempt a WHERE a.study_id = s.study_id),"
                                              " (SELECT count(*) FROM failure f WHERE f.study_id = s.study_id),"
                                              " (SELECT json_extract(t.document, '$.backend.device') FROM trial t"
                                              "  WHERE t.study_id = s.study_id ORDER BY run_position LIMIT 1), awaits_decision"
                                              " FROM study s ORDER BY name, study_id")) {
    std::optional<std::string> device;
    from_value(row[5], device);
    summaries.push_back({std::get<std::string>(row[0]),
                         std::get<std::string>(row[1]),
                         std::get<std::int64_t>(row[2]),
                         std::get<std::int64_t>(row[3]),
                         std::get<std::int64_t>(row[4]),
                         {},
                         std::get<std::int64_t>(row[6]) != 0});
    if (device) summaries.back().provenance = base::planned_provenance(*device);
  }
  return summaries;
}

base::Result<StudySummary> Store::find_study(const std::string& key) const { return pick_study(studies(), key); }

std::optional<StoredReport> Store::report(const std::string& study_id, ReportPlots plots) const {
  std::vector<std::string> wanted = {"build_id", "plan", "model", "conclusion", "gate_figures"};
  if (plots == ReportPlots::kRead) wanted.emplace_back("plots");
  const auto rows = select_values(*database_, "report", wanted, {{"study_id", study_id}}, "study_id");
  if (rows.empty()) return std::nullopt;
  StoredReport report;
  from_value(rows.front()[0], report.build_id);
  from_value(rows.front()[1], report.plan);
  from_value(rows.front()[2], report.model);
  from_value(rows.front()[3], report.conclusion);
  from_value(rows.front()[4], report.gate_figures);
  if (plots == ReportPlots::kRead) from_value(rows.front()[5], report.plots);
  return report;
}

std::optional<protocol::Trial> Store::first_trial(const std::string& study_id) const {
  const auto rows = database_->query("SELECT document FROM trial WHERE study_id = ? ORDER BY run_position, trial_id LIMIT 1", {study_id});
  if (rows.empty()) return std::nullopt;
  return protocol::parse_trial(nlohmann::json::parse(std::get<std::string>(rows.front().front())));
}

std::optional<double> Store::flops_per_step(const std::string& study_id) const {
  std::optional<double> flops;
  const auto rows = database_->query(
      "SELECT flops_per_step FROM rank WHERE study_id = ? AND flops_per_step > 0 ORDER BY trial_id, attempt, rank LIMIT 1", {study_id});
  if (!rows.empty()) from_value(rows.front().front(), flops);
  return flops;
}

std::vector<std::string> Store::trial_ids(const std::string& study_id) const {
  std::vector<std::string> ids;
  for (const ValueRow& row : select_values(*database_, "trial", {"trial_id"}, {{"study_id", study_id}}, "run_position"))
    from_value(row.front(), ids.emplace_back());
  return ids;
}

std::vector<AttemptKey> Store::attempt_keys(const std::string& study_id) const {
  std::vector<AttemptKey> keys;
  for (const ValueRow& row : select_values(*database_, "attempt", {"trial_id", "attempt"}, {{"study_id", study_id}}, "trial_id, attempt")) {
    from_value(row[0], keys.emplace_back().trial_id);
    from_value(row[1], keys.back().attempt);
  }
  return keys;
}

base::Result<base::StudyRows> Store::load_study(const std::string& key) const {
  base::Result<StudySummary> picked = find_study(key);
  if (!picked) return picked.error();
  base::StudyRows rows;
  rows.plan = select_plan(*database_, picked.value().study_id);
  rows.attempts = select_attempts(*database_, rows.plan);
  return rows;
}

base::StudyPlan Store::load_plan_head(const std::string& study_id) const { return select_plan_head(*database_, study_id); }

base::StudyRows Store::load_attempts(const std::string& study_id, const TrialChoice& choice) const {
  base::StudyRows rows;
  rows.plan = select_plan_head(*database_, study_id);
  rows.plan.trials = select_trials(*database_, study_id, choice);
  rows.attempts = select_attempts(*database_, rows.plan);
  return rows;
}

std::vector<TrialPlace> Store::find_trials(const std::string& beginning, const std::string& study_id) const {
  std::vector<TrialPlace> places;
  for (const ValueRow& row : database_->query("SELECT s.study_id, t.arm, t.trial_id FROM study s CROSS JOIN trial t INDEXED BY "
                                              "trial_in_run_order ON t.study_id = s.study_id WHERE substr(t.trial_id, 1, length(?1)) = ?1 "
                                              "AND (?2 = '' OR s.study_id = ?2) ORDER BY s.name, s.study_id, t.run_position",
                                              {beginning, study_id})) {
    TrialPlace& place = places.emplace_back();
    from_value(row[0], place.study_id);
    from_value(row[1], place.arm);
    from_value(row[2], place.trial_id);
  }
  return places;
}

std::optional<base::StudySummaries> Store::load_summaries(const std::string& study_id, const std::vector<std::string>& arms) const {
  return select_summaries(*database_, study_id, arms);
}

base::StudyPlan Store::load_plan(const std::string& study_id) const { return select_plan(*database_, study_id); }

std::vector<base::RunVerdict> Store::load_runs(const std::string& study_id, const TrialChoice& choice) const {
  return select_runs(*database_, study_id, choice);
}

std::optional<base::ControlPeak> Store::control_peak(const std::string& group_id) const {
  return select_control_peak(*database_, group_id);
}

}  // namespace rematch::store

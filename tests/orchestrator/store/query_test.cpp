#include "orchestrator/store/query.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "orchestrator/rules/judge.h"
#include "orchestrator/store/store.h"
#include "tests/orchestrator/store/dump_rows.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {
namespace {

class QueryTest : public ::testing::Test {
 protected:
  QueryTest() {
    Store store = Store::open(path_).value();
    store.put_plan(study_.plan);
    store.put_attempts(study_.attempts);
    store.put_verdicts(study_.plan.study_id, rules::judge_study(study_));
  }

  Asked ask_sql(const std::string& sql, std::int64_t most = INT64_MAX) { return ask(path_, {sql, {}}, most); }
  Answer ask_canned(const std::string& name, const QuestionFilter& filter = {}, std::int64_t most = INT64_MAX) {
    return ask(path_, canned_question(name, filter).value(), most).value();
  }
  static std::size_t column(const Answer& answer, const std::string& name) {
    const auto found = std::find(answer.columns.begin(), answer.columns.end(), name);
    EXPECT_NE(found, answer.columns.end()) << name;
    return static_cast<std::size_t>(found - answer.columns.begin());
  }

  tests::TempDir temp_;
  std::filesystem::path path_ = temp_.path() / "rematch.db";
  base::StudyRows study_ = tests::clean_study().rows();
};

TEST_F(QueryTest, EveryCannedQuestionAnswersWithTheStudysName) {
  EXPECT_EQ(question_names(),
            (std::vector<std::string>{"arms", "attempts", "attribution", "decisions", "diagnoses", "errors", "failures", "peaks",
                                      "published", "ranks", "runs", "steps", "studies", "traffic", "unmatched"}));
  for (const std::string& name : question_names()) {
    const Answer answer = ask_canned(name);
    EXPECT_EQ(answer.columns.front(), "study") << name;
    if (name != "published") {
      EXPECT_EQ(answer.columns.at(1), "study_id") << name;
    }
    if (std::set<std::string>{"errors", "failures", "decisions", "diagnoses", "published", "unmatched"}.contains(name))
      continue;  // it has none
    ASSERT_FALSE(answer.rows.empty()) << name;
    EXPECT_EQ(answer.rows.front().front(), Value(std::string("clean"))) << name;
  }
}

TEST_F(QueryTest, ShowsTheJobTheNodesAndTheDevicesOfAnAttempt) {
  base::AttemptRows attempt = study_.attempts.front();
  attempt.launch.allocation = protocol::Allocation{42, 40, 2, 1, "00c0ffee00c0ffee"};
  attempt.launch.nodes = {{"n1", "node-a", "0,1", std::nullopt}, {"n2", "node-a", std::nullopt, std::nullopt}};
  attempt.ranks[1].exit.node = attempt.launch.ranks[1].node = 1;
  {
    Store store = Store::open(path_).value();
    store.put_attempt(attempt);
    EXPECT_EQ(protocol::to_json(store.load_study("clean").value().attempts.front().launch), protocol::to_json(attempt.launch));
    EXPECT_EQ(store.load_study("clean").value().attempts.front().ranks[1].exit.node, 1);
  }
  const Answer attempts =
      ask_sql("SELECT nodes, job_id, array_job_id, array_task_id, restart_count, runner FROM attempts WHERE job_id IS NOT NULL").value();
  ASSERT_EQ(attempts.rows.size(), 1U);
  EXPECT_EQ(attempts.rows.front(), (ValueRow{std::string("n1,n2"), std::int64_t{42}, std::int64_t{40}, std::int64_t{2}, std::int64_t{1},
                                             std::string("00c0ffee00c0ffee")}));
  const Answer ranks =
      ask_sql("SELECT rank, node, visible_devices FROM ranks WHERE trial_id = '" + attempt.trial.trial_id + "' ORDER BY rank").value();
  ASSERT_EQ(ranks.rows.size(), 2U);
  EXPECT_EQ(ranks.rows[0], (ValueRow{std::int64_t{0}, std::string("n1"), std::string("0,1")}));
  EXPECT_EQ(ranks.rows[1], (ValueRow{std::int64_t{1}, std::string("n2"), Value{}}));
}

TEST_F(QueryTest, EveryViewKeepsStudiesOfOneNameApartAndBytesAndTimesHaveTheirProvenance) {
  const Answer views = ask_sql("SELECT name FROM sqlite_schema WHERE type = 'view' AND name NOT LIKE 'published%'").value();
  for (const ValueRow& row : views.rows) {
    const auto view = std::get<std::string>(row.front());
    const Answer answer = ask_sql("SELECT * FROM " + view).value();
    EXPECT_EQ(answer.columns.at(1), "study_id") << view;
    if (std::set<std::string>{"attempts", "studies", "decisions", "diagnoses", "unmatched"}.contains(view)) continue;
    const std::size_t provenance = column(answer, "provenance");
    for (const ValueRow& each : answer.rows)
      if (view != "arms") {
        EXPECT_EQ(each.at(provenance), Value(std::string("modelled-device"))) << view;
      }
  }
  for (const char* name : {"failures", "peaks", "ranks", "runs", "steps", "traffic"}) {
    const Answer answer = ask_canned(name);
    for (const ValueRow& each : answer.rows)
      EXPECT_EQ(each.at(column(answer, "provenance")), Value(std::string("modelled-device"))) << name;
  }
}

TEST_F(QueryTest, RunsThatWereJudgedInactiveOrInvalidHaveNoAttribution) {
  const auto num_rows = [&](const std::string& arm) { return ask_canned("attribution", {.arm = arm}).rows.size(); };
  ASSERT_GT(num_rows("moe_act"), 0U);
  for (base::AttemptRows& attempt : study_.attempts)
    for (base::RankRows& rank : attempt.ranks)
      if (attempt.trial.arm == "moe_act") rank.model->sites["moe_act"] = 0;
  {
    Store store = Store::open(path_).value();
    store.put_attempts(study_.attempts);
    store.put_verdicts(study_.plan.study_id, rules::judge_study(study_));
  }
  EXPECT_EQ(num_rows("moe_act"), 0U);
  EXPECT_GT(num_rows("[]"), 0U);
}

TEST_F(QueryTest, RowsComeInTheOrderInWhichTrialsRan) {
  const Answer answer = ask_canned("steps");
  std::vector<std::string> ids;
  for (const ValueRow& row : answer.rows)
    if (const auto& id = std::get<std::string>(row[column(answer, "trial_id")]); ids.empty() || ids.back() != id) ids.push_back(id);
  std::vector<std::string> planned;
  for (const protocol::Trial& trial : study_.plan.trials) planned.push_back(trial.trial_id);
  EXPECT_EQ(ids, planned);
}

TEST_F(QueryTest, FiltersKeepWhatAgreesAndRefuseWhatTheQuestionLacks) {
  const std::string arm = "moe_act";
  const Answer peaks = ask_canned("peaks", {.study = "cle", .arm = arm, .outcome = "pass", .rank = 0, .phase = "backward"});
  ASSERT_FALSE(peaks.rows.empty());
  for (const ValueRow& row : peaks.rows) {
    EXPECT_EQ(row[column(peaks, "arm")], Value(arm));
    EXPECT_EQ(row[column(peaks, "rank")], Value(std::int64_t{0}));
    EXPECT_EQ(row[column(peaks, "phase")], Value(std::string("backward")));
  }
  EXPECT_TRUE(ask_canned("peaks", {.outcome = "fail"}).rows.empty());
  EXPECT_TRUE(ask_canned("studies", {.study = "other"}).rows.empty());
  const auto refused = canned_question("studies", {.arm = arm, .rank = 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "`studies` has no arm to filter by; `studies` has no rank to filter by");
  EXPECT_NE(canned_question("memory", {}).error().message.find("arms, attempts, attribution"), std::string::npos);
}

TEST_F(QueryTest, ALimitEndsTheReadingAndSaysSo) {
  EXPECT_EQ(ask_canned("steps", {}, 3).rows.size(), 3U);
  EXPECT_TRUE(ask_canned("steps", {}, 3).cut);
  const auto all = static_cast<std::int64_t>(ask_canned("steps").rows.size());
  EXPECT_FALSE(ask_canned("steps", {}, all).cut);
}

TEST_F(QueryTest, SqlReadsAndNothingElse) {
  EXPECT_EQ(ask_sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT sum(i) FROM n")
                .value()
                .rows.front()
                .front(),
            Value(std::int64_t{10}));
  EXPECT_EQ(ask_sql("SELECT sum(value) FROM json_each('[1, 2]')").value().rows.front().front(), Value(std::int64_t{3}));
  const std::string before = tests::dump_rows(path_);
  const std::string elsewhere = (temp_.path() / "other.db").string();
  for (const std::string& sql :
       {std::string("DELETE FROM study"), std::string("UPDATE study SET name = 'x'"), std::string("INSERT INTO grp VALUES ('a', 'b')"),
        std::string("CREATE TABLE t (n)"), std::string("CREATE TEMP TABLE t (n)"), std::string("DROP VIEW peaks"),
        "ATTACH '" + elsewhere + "' AS other", std::string("PRAGMA query_only = OFF"), std::string("PRAGMA user_version = 1"),
        std::string("BEGIN IMMEDIATE"), std::string("VACUUM INTO '/dev/null'"), std::string("SELECT load_extension('x')"),
        std::string("PRAGMA writable_schema = ON"), std::string("WITH x AS (SELECT 1) DELETE FROM study"),
        std::string("SELECT 1; DELETE FROM study")}) {
    EXPECT_FALSE(ask_sql(sql)) << sql;
  }
  EXPECT_FALSE(std::filesystem::exists(elsewhere));
  EXPECT_EQ(tests::dump_rows(path_), before);
}

TEST_F(QueryTest, MistakesInSqlAreErrorsOfTheUser) {
  EXPECT_NE(ask_sql("SELEC 1").error().message.find("syntax error"), std::string::npos);
  EXPECT_NE(ask_sql("SELECT peek FROM peaks").error().message.find("no such column"), std::string::npos);
  EXPECT_NE(ask_sql("DELETE FROM study").error().message.find("a query may only read"), std::string::npos);
  EXPECT_NE(ask_sql("SELECT ?").error().message.find("1 parameters"), std::string::npos);
  EXPECT_EQ(ask_sql("  -- nothing\n").error().message, "there is no statement in the query");
  EXPECT_TRUE(ask_sql("SELECT 1; -- and no more"));
  for (const char* sql : {"SELEC 1", "SELECT peek FROM peaks", "DELETE FROM study", "SELECT ?", "", "SELECT json('{')"})
    EXPECT_EQ(ask_sql(sql).why(), NoAnswer::kRefused) << sql;
}

TEST_F(QueryTest, RefusesADatabaseOfAnotherVersionAndAFileThatIsNone) {
  Database(path_).execute_script("PRAGMA user_version = 1");
  EXPECT_NE(ask_sql("SELECT 1").error().message.find("its schema version is 1"), std::string::npos);
  EXPECT_EQ(ask_sql("SELEC 1").why(), NoAnswer::kNotRead);
  std::ofstream(temp_.path() / "text.db") << "this is no database, however long it may be made to look like one";
  EXPECT_NE(ask(temp_.path() / "text.db", {"SELECT 1", {}}, 1).error().message.find("not a database"), std::string::npos);
  EXPECT_EQ(ask(temp_.path() / "text.db", {"SELECT 1", {}}, 1).why(), NoAnswer::kNotRead);
}

TEST_F(QueryTest, DamagedPagesAreOfTheDatabase) {
  ASSERT_TRUE(ask_sql("SELECT count(*) FROM peaks"));
  const auto num_pages = static_cast<std::streamoff>(std::filesystem::file_size(path_) / 4096);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  const std::string zeros(static_cast<std::size_t>(num_pages / 2 * 4096), '\0');
  file.seekp((num_pages - num_pages / 2) * 4096);
  file.write(zeros.data(), static_cast<std::streamsize>(zeros.size()));
  file.close();
  const Asked damaged = ask_sql("SELECT sum(peak_allocated_bytes) FROM peaks");
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.why(), NoAnswer::kNotRead) << damaged.error().message;
}

TEST_F(QueryTest, ReadsFromAFolderThatCannotBeWritten) {
  const std::filesystem::path odd = temp_.path() / "a folder? 100%#";
  std::filesystem::create_directory(odd);
  std::filesystem::copy_file(path_, odd / "rematch.db");
  std::filesystem::permissions(odd, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_TRUE(ask(odd / "rematch.db", {"SELECT count(*) FROM peaks", {}}, 1));
  std::filesystem::permissions(odd, std::filesystem::perms::owner_all);
}

TEST_F(QueryTest, TheSchemaNamesEveryViewWithItsColumns) {
  const std::string schema = schema_text(path_).value();
  for (const char* view : {"peaks", "steps", "failures", "arms", "studies", "errors", "attribution", "traffic"})
    EXPECT_NE(schema.find(std::string("CREATE VIEW ") + view), std::string::npos) << view;
  EXPECT_LT(schema.find("CREATE VIEW"), schema.find("CREATE TABLE"));
}

TEST_F(QueryTest, ASinceKeepsWhatBeganThenOrLater) {
  base::AttemptRows& later = study_.attempts.back();
  const std::int64_t first = later.launch.start_unix_ns;
  const std::int64_t last = later.launch.start_unix_ns += 5'000'000'000;
  {
    Store store = Store::open(path_).value();
    store.put_attempt(later);
    store.put_verdicts(study_.plan.study_id, rules::judge_study(study_));
  }
  for (const std::string& name : question_names()) {
    const auto since = [&](std::int64_t unix_ns) { return ask_canned(name, {.since_unix_ns = unix_ns}).rows.size(); };
    const std::size_t all = ask_canned(name).rows.size();
    if (name == "published") {
      EXPECT_EQ(canned_question(name, {.since_unix_ns = first}).error().message, "`published` has no time to filter by");
      continue;
    }
    EXPECT_EQ(since(first), name == "arms" ? all - 1 : all) << name << ": an arm that is inactive has no attempt";
    EXPECT_EQ(since(last + 1), 0U) << name;
  }
  const Answer runs = ask_canned("runs", {.since_unix_ns = last});
  ASSERT_EQ(runs.rows.size(), 1U);
  EXPECT_EQ(runs.rows.front()[column(runs, "trial_id")], Value(later.trial.trial_id));
  EXPECT_EQ(ask_canned("arms", {.since_unix_ns = last}).rows.size(), 1U);
}

TEST_F(QueryTest, AReportStaysUntilARowOfItsStudyIsPut) {
  Store store = Store::open(path_).value();
  const std::string id = study_.plan.study_id;
  EXPECT_FALSE(store.report(id));
  store.put_report(id, {"build", "plan", "{}", 4, "[]", "{}"});
  store.put_report(id, {"build", "plan", "{\"n\":1}", 5, "[2]", "{}"});
  EXPECT_EQ(store.report(id)->plots, "");
  EXPECT_EQ(store.report(id, Store::ReportPlots::kRead)->plots, "[2]");
  EXPECT_EQ(store.report(id)->model, "{\"n\":1}");
  EXPECT_EQ(store.report(id)->conclusion, 5);
  store.put_attempt(study_.attempts.front());
  EXPECT_FALSE(store.report(id));
  store.put_report(id, {"build", "plan", "{}", 0, "[]", "{}"});
  store.put_plan(study_.plan);
  EXPECT_FALSE(store.report(id));
}

TEST_F(QueryTest, ClearingLeavesNoRowInAnyTable) {
  Store store = Store::open(path_).value();
  store.put_report(study_.plan.study_id, {"build", "plan", "{}", 0, "[]", "{}"});
  store.replace_all([] {});
  EXPECT_EQ(tests::dump_rows(path_).find("\n "), std::string::npos) << tests::dump_rows(path_);
  store.put_plan(study_.plan);
  EXPECT_EQ(store.trial_ids(study_.plan.study_id).size(), study_.plan.trials.size());
}

}  // namespace
}  // namespace rematch::store

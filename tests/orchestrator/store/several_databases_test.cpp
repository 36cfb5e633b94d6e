#include <gtest/gtest.h>

#include <fstream>

#include "orchestrator/rules/judge.h"
#include "orchestrator/store/query.h"
#include "orchestrator/store/store.h"
#include "tests/orchestrator/store/dump_rows.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {
namespace {

class SeveralDatabases : public ::testing::Test {
 protected:
  SeveralDatabases() {
    for (const char* name : {"mon'day \"1\"", "tuesday"}) {
      const std::filesystem::path path = temp_.path() / name / "rematch.db";
      base::StudyRows study = tests::clean_study().rows();
      study.plan.name = std::string("of ") + name;
      Store store = Store::open(path).value();
      store.put_plan(study.plan);
      store.put_attempts(study.attempts);
      store.put_verdicts(study.plan.study_id, rules::judge_study(study));
      paths_.push_back(path);
    }
  }

  std::vector<NamedDatabase> databases() { return name_databases(paths_).value(); }
  Asked ask_sql(const std::string& sql) { return ask_all(databases(), {sql, {}}, INT64_MAX); }

  tests::TempDir temp_;
  std::vector<std::filesystem::path> paths_;
};

TEST_F(SeveralDatabases, AreNamedByTheirWorkspacesAndByTheirPathsWhereThatTellsThemNotApart) {
  EXPECT_EQ(databases()[0].name, "mon'day \"1\"");
  EXPECT_EQ(databases()[1].name, "tuesday");
  const auto named = name_databases({"a/x/rematch.db", "b/X/rematch.db", "main/rematch.db", "old.db"}).value();
  EXPECT_EQ(named[0].name, std::filesystem::absolute("a/x/rematch.db").string());
  EXPECT_EQ(named[1].name, std::filesystem::absolute("b/X/rematch.db").string());
  EXPECT_EQ(named[2].name, std::filesystem::absolute("main/rematch.db").string());
  EXPECT_EQ(named[3].name, "old.db");
  EXPECT_NE(name_databases({"a/../x.db", "x.db"}).error().message.find("given twice"), std::string::npos);
}

TEST_F(SeveralDatabases, ViewsAndTablesSpanThemWithALeadingColumn) {
  const Answer names = ask_sql("SELECT * FROM studies ORDER BY database").value();
  EXPECT_EQ(names.columns.front(), "database");
  ASSERT_EQ(names.rows.size(), 2U);
  EXPECT_EQ(names.rows[0][1], Value(std::string("of mon'day \"1\"")));
  EXPECT_EQ(names.rows[1][0], Value(std::string("tuesday")));
  const auto count = [&](const std::string& table) { return ask_sql("SELECT count(*) FROM " + table).value().rows.front().front(); };
  EXPECT_EQ(count("step"), count("steps"));
  EXPECT_EQ(std::get<std::int64_t>(count("steps")), 2 * std::get<std::int64_t>(count("tuesday.steps")));
}

TEST_F(SeveralDatabases, ACannedQuestionIsAskedOfEach) {
  const Question question = canned_question("steps", {.rank = 0}).value();
  const Answer one = ask(paths_[0], question, INT64_MAX).value();
  const Answer all = ask_each(databases(), question, INT64_MAX).value();
  EXPECT_EQ(all.rows.size(), 2 * one.rows.size());
  EXPECT_EQ(all.columns.front(), "database");
  EXPECT_EQ(all.columns.size(), one.columns.size() + 1);
  EXPECT_EQ(all.rows.back()[0], Value(std::string("tuesday")));
  EXPECT_FALSE(all.cut);
  const auto most = static_cast<std::int64_t>(one.rows.size());
  const Answer cut = ask_each(databases(), question, most).value();
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.rows.size(), one.rows.size());
}

TEST_F(SeveralDatabases, NoneOfThemCanBeWritten) {
  const std::vector<std::string> before = {tests::dump_rows(paths_[0]), tests::dump_rows(paths_[1])};
  const std::filesystem::path other = temp_.path() / "other.db";
  for (const std::string schema : {"", "main.", "temp.", "tuesday.", "\"mon'day \"\"1\"\"\"."})
    for (const std::string& sql :
         {"INSERT INTO " + schema + "grp VALUES ('a', 'b')", "UPDATE " + schema + "study SET name = 'x'", "DELETE FROM " + schema + "study",
          "WITH x AS (SELECT 1) DELETE FROM " + schema + "study", "CREATE TABLE " + schema + "t (n)", "DROP VIEW " + schema + "peaks",
          "DELETE FROM " + schema + "sqlite_schema", "PRAGMA " + schema + "user_version = 1", "PRAGMA " + schema + "journal_mode = DELETE"})
      EXPECT_FALSE(ask_sql(sql)) << sql;
  for (const std::string& sql :
       {std::string("CREATE TEMP TABLE t (n)"), std::string("CREATE TEMP VIEW t AS SELECT 1"), std::string("PRAGMA writable_schema = ON"),
        std::string("PRAGMA query_only = OFF"), "ATTACH '" + other.string() + "' AS other", std::string("DETACH tuesday"),
        "VACUUM INTO '" + other.string() + "'", "VACUUM tuesday INTO '" + other.string() + "'", std::string("SELECT load_extension('x')"),
        std::string("SELECT writefile('x', 'y')"), std::string("BEGIN IMMEDIATE"), std::string("REINDEX"), std::string("ANALYZE"),
        std::string("SELECT 1; DELETE FROM study")})
    EXPECT_FALSE(ask_sql(sql)) << sql;
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_EQ(tests::dump_rows(paths_[0]), before[0]);
  EXPECT_EQ(tests::dump_rows(paths_[1]), before[1]);
}

TEST_F(SeveralDatabases, RefusesTooManyAndOneOfAnotherVersion) {
  Database(paths_[1]).execute_script("PRAGMA user_version = 99");
  const std::string message = ask_sql("SELECT 1").error().message;
  EXPECT_NE(message.find("tuesday/rematch.db: its schema version is 99"), std::string::npos) << message;
  EXPECT_EQ(ask_sql("SELECT 1").why(), NoAnswer::kNotRead);
  std::vector<NamedDatabase> many;
  for (int i = 0; i < 11; ++i) many.push_back({"d" + std::to_string(i), paths_[0]});
  EXPECT_EQ(ask_all(many, {"SELECT 1", {}}, 1).error().message,
            "one statement can read 10 databases at most, found 11; the canned questions take any number");
  EXPECT_EQ(ask_all(many, {"SELECT 1", {}}, 1).why(), NoAnswer::kRefused);
  many.pop_back();
  EXPECT_EQ(ask_all(many, {"SELECT count(*) FROM studies", {}}, 1).value().rows.front().front(), Value(std::int64_t{10}));
}

}  // namespace
}  // namespace rematch::store

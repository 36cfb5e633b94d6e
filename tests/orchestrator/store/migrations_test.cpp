#include "orchestrator/store/migrations.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/orchestrator/store/store_fixture.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::store {
namespace {

using MigrationsTest = StoreFixture;

TEST_F(MigrationsTest, AreNumberedFromOneWithoutGaps) {
  const std::vector<Migration> migrations = embedded_migrations();
  ASSERT_FALSE(migrations.empty());
  for (std::size_t i = 0; i < migrations.size(); ++i) EXPECT_EQ(migrations[i].version, static_cast<std::int64_t>(i) + 1);
}

const Migration kFirst = {1, "CREATE TABLE kept (n INTEGER); INSERT INTO kept VALUES (7);"};
const Migration kSecond = {2, "ALTER TABLE kept ADD COLUMN m INTEGER;"};

TEST_F(MigrationsTest, MigratesAnOlderDatabaseAfterACopyBesideIt) {
  Database database(path_);
  migrate(database, path_, {kFirst});
  EXPECT_EQ(schema_version(database), 1);
  EXPECT_FALSE(std::filesystem::exists(path_.string() + ".backup-v1"));
  migrate(database, path_, {kFirst, kSecond});
  EXPECT_EQ(schema_version(database), 2);
  EXPECT_EQ(database.query("SELECT n, m FROM kept").size(), 1U);
  Database backup(path_.string() + ".backup-v1");
  EXPECT_EQ(schema_version(backup), 1);
  EXPECT_EQ(backup.query("SELECT * FROM kept").front().size(), 1U);
}

TEST_F(MigrationsTest, OneThatIsOpenedToBeReadIsLeftAsItIs) {
  EXPECT_FALSE(Store::open_to_read(path_)) << "there is none, and none is made";
  EXPECT_FALSE(std::filesystem::exists(path_));
  {
    Store store = open();
    put(store, tests::clean_study().rows());
  }
  const auto read = Store::open_to_read(path_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read.value().studies().size(), 1U);
  {
    Database database(path_);
    database.execute_script("PRAGMA user_version = 1");
  }
  const auto older = Store::open_to_read(path_);
  ASSERT_FALSE(older);
  EXPECT_NE(older.error().message.find("its schema version is 1"), std::string::npos) << older.error().message;
  Database database(path_);
  EXPECT_EQ(schema_version(database), 1);
}

TEST(OtherVersion, SaysWhatToDoWithIt) {
  const std::int64_t newest = embedded_migrations().back().version;
  const std::string wanted = ", this program reads version " + std::to_string(newest) + "; ";
  EXPECT_EQ(other_version_text("a/rematch.db", newest + 1),
            "a/rematch.db: its schema version is " + std::to_string(newest + 1) + wanted + "use the newer program");
  EXPECT_EQ(other_version_text("a b/rematch.db", 1),
            "a b/rematch.db: its schema version is 1" + wanted +
                "`rematch --workspace 'a b' report` brings it up to date, where that folder can be "
                "written");
  EXPECT_EQ(other_version_text("old.db", 1), "old.db: its schema version is 1" + wanted +
                                                 "put it at DIR/rematch.db, and `rematch --workspace DIR report` brings it up to date");
}

TEST_F(MigrationsTest, OpensADatabaseOfTheFirstSchemaWithItsStepsAndWithoutAttributions) {
  const base::StudyRows study = tests::clean_study().rows();
  {
    Store store = open();
    put(store, study);
  }
  {
    Database database(path_);
    database.execute_script(
        "DROP VIEW runs; DROP VIEW decisions; DROP VIEW diagnoses; DROP VIEW unmatched; DROP VIEW interactions; DROP VIEW moved_ranks; "
        "DROP VIEW time_fits; DROP VIEW work_done; DROP VIEW attempts; DROP VIEW ranks");
    database.execute_script("DROP VIEW arms; DROP TABLE arm_failure; DROP TABLE failed_comparison; DROP TABLE control_pair");
    for (const char* column :
         {"provenance", "held_after_forward_bytes", "estimated_step_time_ns", "estimated_replay_ns", "hot_rank_num_alike"})
      database.execute_script(std::string("ALTER TABLE verdict DROP COLUMN ") + column);
    database.execute_script(
        "ALTER TABLE study DROP COLUMN head; DROP INDEX trial_of_arm; ALTER TABLE attempt DROP COLUMN "
        "job_id; ALTER TABLE attempt DROP COLUMN array_job_id; "
        "ALTER TABLE attempt DROP COLUMN array_task_id; ALTER TABLE attempt DROP COLUMN restart_count; "
        "ALTER TABLE attempt DROP COLUMN runner; ALTER TABLE rank DROP COLUMN node; ALTER TABLE rank DROP COLUMN visible_devices; "
        "UPDATE attempt SET launch_document = json_remove(launch_document, '$.nodes', '$.allocation', '$.ranks[0].node', "
        "'$.ranks[1].node')");
    database.execute_script(
        "DROP VIEW published; DROP VIEW published_deltas; DROP TABLE published_table; DROP VIEW errors; DROP VIEW studies; "
        "DROP TABLE report; DROP INDEX study_by_name; DROP INDEX trial_in_run_order; "
        "DROP INDEX attempt_key");
    database.execute_script(
        "DROP TABLE decision; DROP TABLE effect; DROP TABLE interaction; DROP TABLE time_fit; DROP TABLE diagnosis; DROP TABLE "
        "field_difference; "
        "ALTER TABLE attempt DROP COLUMN trial_document; ALTER TABLE arm DROP COLUMN variation; ALTER TABLE study DROP COLUMN "
        "awaits_decision; ALTER TABLE verdict DROP COLUMN "
        "pass_rate_low; "
        "ALTER TABLE verdict DROP COLUMN pass_rate_high; ALTER TABLE verdict DROP COLUMN is_pareto; "
        "ALTER TABLE verdict DROP COLUMN mean_step_time_ns; ALTER TABLE verdict DROP COLUMN window_step_time_ns; "
        "ALTER TABLE verdict DROP COLUMN tflops_of_mean_time; ALTER TABLE verdict DROP COLUMN tflops_mean_over_steps; "
        "ALTER TABLE verdict DROP COLUMN first_steady_step; ALTER TABLE verdict DROP COLUMN warmup_reached; "
        "ALTER TABLE verdict DROP COLUMN loss_basis; ALTER TABLE verdict DROP COLUMN shortfalls; "
        "ALTER TABLE verdict DROP COLUMN peak_growth_bytes; ALTER TABLE verdict DROP COLUMN peak_growth_allowed_bytes; "
        "ALTER TABLE rank DROP COLUMN num_devices; ALTER TABLE rank DROP COLUMN device_id; ALTER TABLE rank DROP COLUMN driver_version; "
        "ALTER TABLE rank DROP COLUMN cuda_version; ALTER TABLE rank DROP COLUMN nccl_version; ALTER TABLE rank DROP COLUMN link_types; "
        "ALTER TABLE rank DROP COLUMN cpu_affinity; ALTER TABLE rank DROP COLUMN allocator_settings; "
        "ALTER TABLE rank DROP COLUMN environment; "
        "DROP TABLE work; ALTER TABLE step DROP COLUMN forward_end_requested_bytes; DROP VIEW traffic; DROP TABLE communication; DROP "
        "TABLE moved_rank; ALTER TABLE rank_error DROP COLUMN failed_rank; "
        "DROP VIEW attribution; DROP TABLE peak_attribution; ALTER TABLE step DROP COLUMN aux_losses; PRAGMA user_version = 1");
  }
  Store store = open();
  const base::StudyRows loaded = store.load_study("clean").value();
  EXPECT_EQ(loaded.attempts.size(), study.attempts.size());
  EXPECT_EQ(Database(path_).query("SELECT DISTINCT node FROM rank").front().front(), Value(study.attempts[0].launch.host));
  EXPECT_EQ(protocol::to_json(loaded.attempts[0].launch), protocol::to_json(study.attempts[0].launch)) << "all ranks on the one node";
  EXPECT_EQ(loaded.attempts[0].ranks[0].steps.size(), 20U);
  EXPECT_EQ(loaded.attempts[0].ranks[0].steps[0].peak_attribution, std::nullopt);
  EXPECT_EQ(loaded.attempts[0].ranks[0].steps[0].forward_end_requested_bytes, std::nullopt);
  EXPECT_FALSE(store.control_peak(tests::hex_id(0xbb)));
  EXPECT_TRUE(std::filesystem::exists(path_.string() + ".backup-v1"));
  put(store, study);
  EXPECT_TRUE(store.control_peak(tests::hex_id(0xbb)));
}

TEST_F(MigrationsTest, LeavesADatabaseAsItWasWhenAMigrationFails) {
  Database database(path_);
  migrate(database, path_, {kFirst});
  const Migration broken = {2, "CREATE TABLE half (n INTEGER); SELECT * FROM nowhere;"};
  EXPECT_THROW(migrate(database, path_, {kFirst, broken}), StoreError);
  EXPECT_EQ(schema_version(database), 1);
  EXPECT_TRUE(database.query("SELECT name FROM sqlite_schema WHERE name = 'half'").empty());
}

}  // namespace
}  // namespace rematch::store

// What the database holds of ranks that work together: their communication, and what moved from one to another.
#include <gtest/gtest.h>

#include "orchestrator/store/database.h"
#include "tests/orchestrator/store/store_fixture.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::store {
namespace {

class ParallelRows : public StoreFixture {
 protected:
  void put(const base::StudyRows& study) {
    Store store = open();
    StoreFixture::put(store, study);
  }
};

TEST_F(ParallelRows, HoldsTheCommunicationOfEachRanksLastStep) {
  const base::StudyRows study = tests::clean_study().rows();
  put(study);
  Database database(path_);
  const auto rows = database.query(
      "SELECT step, axis, pass, operation, num_calls, bytes, duration_ns FROM communication WHERE trial_id = ? AND rank = 1 ORDER BY axis, "
      "pass",
      {study.attempts[2].trial.trial_id});
  ASSERT_EQ(study.attempts[2].trial.arm, "core_attn");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[3], (ValueRow{std::int64_t{19}, std::string("ep"), std::string("replay"), std::string("all_to_all"), std::int64_t{6},
                               3 * tests::kMegabyte, std::int64_t{320'000}}));
  const auto traffic =
      database.query("SELECT DISTINCT arm, bytes FROM traffic WHERE axis = 'ep' AND pass = 'replay' AND rank = 0 ORDER BY arm");
  ASSERT_EQ(traffic.size(), 2U);
  EXPECT_EQ(traffic[1], (ValueRow{std::string("moe_act"), 3 * tests::kMegabyte}));
}

TEST_F(ParallelRows, HoldsTheRanksBetweenWhichAHotRankAndAFailureMoved) {
  tests::StudyBuilder builder("moved", {.world_size = 4, .pipeline_model_parallel_size = 4});
  builder.add_arm({"moe_act"});
  builder.add_arm({"moe"});
  builder.add_arm({"moe", "layernorm"});
  for (int repeat = 0; repeat < 4; ++repeat)
    builder.run_out_of_memory("[]", protocol::Stage::kWarm, protocol::Phase::kForward, 1, {.failing_rank = 3});
  for (int repeat = 0; repeat < 2; ++repeat)
    builder.run_out_of_memory("moe_act", protocol::Stage::kWarm, protocol::Phase::kForward, 1, {.failing_rank = 1});
  builder.run_all("moe");
  builder.run_all("moe+layernorm", {.extra_bytes = {{2, tests::kMegabyte}}});
  put(builder.rows());
  put(builder.rows());
  const auto rows = Database(path_).query(
      "SELECT arm, moved, side, against, rank, pipeline_rank, pipeline_size, against_peak_allocated_bytes, peak_allocated_bytes FROM "
      "moved_rank "
      "ORDER BY arm, moved, side");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], (ValueRow{std::string("moe+layernorm"), std::string("hot_rank"), std::string("from"), std::string("moe"),
                               std::int64_t{0}, std::int64_t{0}, std::int64_t{4}, 1000 * tests::kMegabyte, 1000 * tests::kMegabyte}));
  EXPECT_EQ(rows[1], (ValueRow{std::string("moe+layernorm"), std::string("hot_rank"), std::string("to"), std::string("moe"),
                               std::int64_t{2}, std::int64_t{2}, std::int64_t{4}, 800 * tests::kMegabyte, 1001 * tests::kMegabyte}));
  EXPECT_EQ(rows[2], (ValueRow{std::string("moe_act"), std::string("failure"), std::string("from"), std::string("[]"), std::int64_t{3},
                               std::int64_t{3}, std::int64_t{4}, 960 * tests::kMegabyte, 800 * tests::kMegabyte}));
  EXPECT_EQ(std::get<std::string>(rows[3][2]), "to");
  EXPECT_EQ(std::get<std::int64_t>(rows[3][4]), 1);
}

}  // namespace
}  // namespace rematch::store

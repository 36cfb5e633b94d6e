#include <gtest/gtest.h>

#include <algorithm>

#include "orchestrator/rules/judge.h"
#include "orchestrator/store/store.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {
namespace {

void put(Store& store, const base::StudyRows& study) {
  store.put_plan(study.plan);
  store.put_attempts(study.attempts);
  store.put_verdicts(study.plan.study_id, rules::judge_study(study));
}

void expect_same(const base::RunVerdict& loaded, const base::RunVerdict& wanted) {
  EXPECT_EQ(loaded.trial_id, wanted.trial_id);
  EXPECT_EQ(loaded.attempt, wanted.attempt);
  EXPECT_EQ(loaded.block, wanted.block);
  EXPECT_EQ(loaded.slot, wanted.slot);
  EXPECT_EQ(loaded.outcome, wanted.outcome);
  EXPECT_EQ(loaded.loss_basis, wanted.loss_basis);
  ASSERT_EQ(loaded.shortfalls.size(), wanted.shortfalls.size());
  for (std::size_t i = 0; i < wanted.shortfalls.size(); ++i) EXPECT_EQ(loaded.shortfalls[i].message, wanted.shortfalls[i].message);
  ASSERT_EQ(loaded.failure.has_value(), wanted.failure.has_value());
  EXPECT_EQ(loaded.failure ? loaded.failure->message : "", wanted.failure ? wanted.failure->message : "");
  ASSERT_EQ(loaded.figures.has_value(), wanted.figures.has_value());
  if (!wanted.figures) return;
  EXPECT_EQ(loaded.figures->hot.rank, wanted.figures->hot.rank);
  EXPECT_EQ(loaded.figures->hot.allocated_bytes, wanted.figures->hot.allocated_bytes);
  EXPECT_EQ(loaded.figures->hot.binding_phase, wanted.figures->hot.binding_phase);
  EXPECT_EQ(loaded.figures->first_steady_step, wanted.figures->first_steady_step);
  EXPECT_EQ(loaded.figures->median_step_time_ns, wanted.figures->median_step_time_ns);
}

TEST(RunRows, AreReadBackAsTheyWereJudged) {
  const tests::TempDir folder;
  Store store = Store::open(folder.path() / "rematch.db").value();
  base::StudyRows study = tests::capacity_study().rows();
  for (base::RankRows& rank : study.attempts.back().ranks) rank.steps.back().skipped = true;  // a shortfall beside the failures
  put(store, study);
  const base::StudyVerdict verdict = rules::judge_study(study);
  for (const base::ArmRow& arm : study.plan.arms) {
    const auto loaded = store.load_runs(study.plan.study_id, {{arm.arm}, {}});
    std::vector<base::RunVerdict> wanted;
    for (const base::RunVerdict& run : verdict.runs)
      if (run.arm == arm.arm) wanted.push_back(run);
    ASSERT_EQ(loaded.size(), wanted.size()) << arm.arm;
    for (const base::RunVerdict& run : loaded) {
      const auto same = std::find_if(wanted.begin(), wanted.end(), [&](const auto& each) { return each.trial_id == run.trial_id; });
      ASSERT_TRUE(same != wanted.end());
      expect_same(run, *same);
    }
  }
  EXPECT_EQ(store.load_runs(study.plan.study_id, {{}, {study.attempts[0].trial.trial_id}}).size(), 1U);
}

TEST(RunRows, AreNoneWhereTheRowsChangedSinceTheyWereJudged) {
  const tests::TempDir folder;
  Store store = Store::open(folder.path() / "rematch.db").value();
  const base::StudyRows study = tests::clean_study().rows();
  put(store, study);
  store.put_attempt(study.attempts[0]);
  EXPECT_TRUE(store.load_runs(study.plan.study_id, {{"[]"}, {}}).empty());
}

}  // namespace
}  // namespace rematch::store

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/orchestrator/store/store_fixture.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::store {
namespace {

using Summaries = StoreFixture;

TEST_F(Summaries, AreThoseOfTheVerdict) {
  const base::StudyRows study = tests::capacity_study().rows();
  Store store = open();
  put(store, study);
  const base::StudyRows loaded = store.load_study("capacity").value();
  const base::StudyVerdict verdict = rules::judge_study(loaded);
  std::vector<std::string> arms;
  for (const base::ArmRow& arm : study.plan.arms) arms.push_back(arm.arm);
  const base::StudySummaries summaries = store.load_summaries(study.plan.study_id, arms).value();
  ASSERT_EQ(summaries.arms.size(), verdict.arms.size());
  for (std::size_t i = 0; i < verdict.arms.size(); ++i) EXPECT_EQ(summaries.arms[i].outcome, verdict.arms[i].outcome);
  ASSERT_EQ(summaries.runs.size(), verdict.runs.size());
  for (const base::RunSummary& run : summaries.runs) {
    const auto same = std::find_if(verdict.runs.begin(), verdict.runs.end(),
                                   [&](const auto& other) { return other.trial_id == run.trial_id && other.attempt == run.attempt; });
    ASSERT_NE(same, verdict.runs.end());
    const base::RunSummary wanted = base::summary_of(*same);
    EXPECT_EQ(run.arm, wanted.arm);
    EXPECT_EQ(run.outcome, wanted.outcome);
    EXPECT_EQ(run.reason, wanted.reason);
    EXPECT_EQ(run.peak_allocated_bytes, wanted.peak_allocated_bytes);
    EXPECT_EQ(run.step_time_ns, wanted.step_time_ns);
  }
  EXPECT_EQ(store.load_summaries(study.plan.study_id, {arms.front()}).value().arms.size(), 1U);
}

TEST_F(Summaries, HaveTheFieldsInWhichARunIsUnmatched) {
  base::StudyRows study = tests::clean_study().rows();
  base::AttemptRows& odd = study.attempts.back();
  for (base::RankRows& rank : odd.ranks) rank.hello->machine.driver_version = "999";
  Store store = open();
  put(store, study);
  const base::StudySummaries summaries = store.load_summaries(study.plan.study_id, {odd.trial.arm}).value();
  ASSERT_EQ(summaries.unmatched.size(), 1U);
  EXPECT_EQ(summaries.unmatched.front().trial_id, odd.trial.trial_id);
  EXPECT_EQ(summaries.unmatched.front().differences.front().field, "machine.driver_version");
  EXPECT_TRUE(store.load_summaries(study.plan.study_id, {}).value().unmatched.empty());
}

TEST_F(Summaries, AreNoneOfAStudyThatIsNotJudgedAsItStands) {
  const base::StudyRows study = tests::clean_study().rows();
  Store store = open();
  put(store, study);
  store.put_attempt(study.attempts.front());
  EXPECT_FALSE(store.load_summaries(study.plan.study_id, {"[]"}));
}

}  // namespace
}  // namespace rematch::store

// What the rules say of a study's matching and its symptoms, as rows; and a trial that is not what the plan has.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "orchestrator/rules/judge.h"
#include "orchestrator/store/database.h"
#include "orchestrator/store/store.h"
#include "tests/orchestrator/study_builder.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {
namespace {

TEST(Verdicts, HoldWhatIsUnmatchedAndWhatIsDiagnosed) {
  const tests::TempDir temp;
  const std::filesystem::path path = temp.path() / "rematch.db";
  base::StudyRows study = tests::clean_study().rows();
  study.attempts[5].launch.host = "node-b";
  study.attempts[5].trial.training.seed = 7;
  const base::StudyVerdict verdict = rules::judge_study(study);
  ASSERT_EQ(verdict.unmatched.size(), 1U);
  ASSERT_FALSE(verdict.diagnoses.empty());
  Store store = Store::open(path).value();
  store.put_plan(study.plan);
  for (const base::AttemptRows& attempt : study.attempts) store.put_attempt(attempt);
  store.put_verdicts(study.plan.study_id, verdict);
  const std::string trial = study.attempts[5].trial.trial_id;
  const base::StudyRows loaded = store.load_study("").value();
  for (const base::AttemptRows& attempt : loaded.attempts)
    EXPECT_EQ(attempt.trial.training.seed, attempt.trial.trial_id == trial ? 7U : 1234U) << "as its own folder has it, not as the plan";
  const std::string against = verdict.unmatched[0].against;
  Database database(path);
  EXPECT_EQ(database.query("SELECT trial_id, attempt, position, against, field, value, against_value FROM field_difference"),
            (std::vector<ValueRow>{{trial, std::int64_t{1}, std::int64_t{0}, against, "launch.host", "node-b", "node-a"},
                                   {trial, std::int64_t{1}, std::int64_t{1}, against, "training.seed", "7", "1234"}}));
  const auto rows = database.query("SELECT symptom, arm, finding, next_step FROM diagnosis ORDER BY position");
  ASSERT_EQ(rows.size(), verdict.diagnoses.size());
  EXPECT_EQ(rows[0], (ValueRow{verdict.diagnoses[0].symptom, verdict.diagnoses[0].arm, verdict.diagnoses[0].finding,
                               verdict.diagnoses[0].next_step}));
  store.put_verdicts(study.plan.study_id, rules::judge_study(tests::clean_study().rows()));
  EXPECT_TRUE(database.query("SELECT * FROM field_difference").empty()) << "verdicts are replaced";
}

}  // namespace
}  // namespace rematch::store

#include "schemas/protocol/trial_paths.h"

#include <gtest/gtest.h>

namespace rematch::protocol {
namespace {

TEST(TrialPaths, SpellTheWorkspace) {
  const WorkspacePaths workspace{"runs"};
  EXPECT_EQ(workspace.database(), "runs/rematch.db");
  EXPECT_EQ(workspace.study("tiny", "0123"), "runs/studies/tiny-0123");
  EXPECT_EQ(workspace.published("a_table"), "runs/published/a_table.json");
  const StudyPaths study{workspace.study("tiny", "0123")};
  EXPECT_EQ(study.sweep(), "runs/studies/tiny-0123/sweep.yaml");
  EXPECT_EQ(study.plan(), "runs/studies/tiny-0123/study.json");
  EXPECT_EQ(study.trial("abcd"), "runs/studies/tiny-0123/trials/abcd");
}

TEST(TrialPaths, TakeOnlyNamesThatAreFileNames) {
  for (const char* name : {"a", "llama3_70b-32.v2", "_"}) EXPECT_TRUE(may_name_a_file(name)) << name;
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "a b", "../a"}) EXPECT_FALSE(may_name_a_file(name)) << name;
  EXPECT_TRUE(may_name_a_file(std::string(64, 'a')));
  EXPECT_FALSE(may_name_a_file(std::string(65, 'a')));
}

TEST(TrialPaths, SpellAnAttempt) {
  const AttemptPaths attempt = attempt_paths("trials/abcd", 2);
  EXPECT_EQ(attempt.trial(), "trials/abcd/attempt-2/trial.json");
  EXPECT_EQ(attempt.launch(), "trials/abcd/attempt-2/launch.json");
  EXPECT_EQ(attempt.lock(), "trials/abcd/attempt-2/lock");
  EXPECT_EQ(attempt.rank_record(7), "trials/abcd/attempt-2/rank-00007.jsonl");
  EXPECT_EQ(attempt.rank_log(12345), "trials/abcd/attempt-2/rank-12345.log");
  EXPECT_EQ(attempt.done(), "trials/abcd/attempt-2/done.json");
}

}  // namespace
}  // namespace rematch::protocol

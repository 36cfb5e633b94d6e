#include "orchestrator/cli/query_filter.h"

#include <gtest/gtest.h>

namespace rematch::cli {
namespace {

std::string problem(const std::string& question, const store::QuestionFilter& filter) {
  return problem_of_filter(question, filter).value_or("");
}

TEST(QueryFilter, RefusesWordsThatAreNoneWithTheNearest) {
  EXPECT_EQ(problem("runs", {.outcome = "not run"}), "");
  EXPECT_TRUE(
      problem("runs", {.outcome = "passs"}).starts_with("--outcome: 'passs' is not an outcome of `runs`; did you mean 'pass'? Known: "));
  EXPECT_EQ(problem("peaks", {.phase = "backward"}), "");
  EXPECT_TRUE(problem("peaks", {.phase = "bakward"}).starts_with("--phase: 'bakward' is not a phase; did you mean 'backward'? Known: "));
}

TEST(QueryFilter, TakesTheOutcomesThatTheQuestionHas) {
  EXPECT_EQ(problem("studies", {.outcome = "none meets the budget"}), "");
  EXPECT_NE(problem("studies", {.outcome = "pass"}), "");
  EXPECT_EQ(problem("published", {.outcome = "out_of_memory"}), "");
  EXPECT_NE(problem("published", {.outcome = "fail"}), "");
}

TEST(QueryFilter, RefusesAStudyWithoutAName) {
  EXPECT_EQ(problem("arms", {.study = "f"}), "");
  EXPECT_NE(problem("arms", {.study = ""}).find("--study: wanted"), std::string::npos);
}

}  // namespace
}  // namespace rematch::cli

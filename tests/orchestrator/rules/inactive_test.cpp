#include "orchestrator/rules/inactive.h"

#include <gtest/gtest.h>

#include "orchestrator/rules/judge.h"
#include "tests/orchestrator/study_builder.h"

namespace rematch::rules {
namespace {

using tests::StudyBuilder;

// A study of the control and of full recompute that also names a label, all run.
StudyBuilder full_study() {
  StudyBuilder builder("full");
  builder.add_setting({.recompute_granularity = "full",
                       .recompute_modules = std::vector<std::string>{"moe"},
                       .recompute_method = "uniform",
                       .recompute_num_layers = 1,
                       .core_revision = "24bad8e6"});
  builder.run_all("[]");
  builder.run_all("full:uniform:1");
  return builder;
}

TEST(FullRecompute, ActsByItsGroupsOfLayersAndNotByTheLabelsThatItNames) {
  StudyBuilder builder = full_study();
  EXPECT_EQ(inactive_reason(builder.rows().attempts.back()), std::nullopt);
  EXPECT_EQ(judge_study(builder.rows()).arms.back().outcome, base::Outcome::kPass);
}

TEST(FullRecompute, IsInactiveWhenNoGroupWasReplayed) {
  StudyBuilder builder = full_study();
  base::AttemptRows& attempt = builder.rows().attempts.back();
  for (base::RankRows& rank : attempt.ranks)
    for (protocol::StepRecord& step : rank.steps) step.replays = {{"moe", 3}};
  EXPECT_EQ(inactive_reason(attempt), "full wrapped 6 regions and none was replayed in 20 steps");
  EXPECT_EQ(judge_study(builder.rows()).arms.back().outcome, base::Outcome::kInactive);
}

TEST(FullRecompute, IsInactiveWhenNoGroupWasWrapped) {
  StudyBuilder builder = full_study();
  base::AttemptRows& attempt = builder.rows().attempts.back();
  for (base::RankRows& rank : attempt.ranks) rank.model->sites = {{"moe", 3}};
  EXPECT_EQ(inactive_reason(attempt), "full wrapped no region on any rank");
}

}  // namespace
}  // namespace rematch::rules

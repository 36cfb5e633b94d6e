#include "orchestrator/rules/twin_study.h"

#include <gtest/gtest.h>

#include "tests/orchestrator/published_builder.h"

namespace rematch::rules {
namespace {

using protocol::Phase;
using protocol::Provenance;
using tests::kMegabyte;

base::StudyRows study_of(const std::string& name, std::int64_t id, std::int64_t start_unix_ns = 1'700'000'000'000'000'000) {
  tests::StudyBuilder builder = tests::clean_study(name);
  builder.plan().study_id = tests::hex_id(id);
  for (base::AttemptRows& attempt : builder.rows().attempts) attempt.launch.start_unix_ns = start_unix_ns;
  return builder.rows();
}

base::StudyRows predicted_study() {
  base::StudyRows study = study_of("predicted", 1);
  tests::mark_predicted(study);
  return study;
}

TEST(TwinStudy, TrainsTheSameWhateverItsStepsDeviceAndName) {
  const protocol::Trial trial = predicted_study().plan.trials.front();
  protocol::Trial twin = trial;
  twin.training.train_iters = 7;
  twin.backend.device = "meta";
  twin.backend.memory_limit_bytes = 5;
  twin.study = "other";
  twin.measure = {1, 1};
  twin.prediction = protocol::PredictionSpec{};
  EXPECT_TRUE(trains_the_same(trial, twin));
}

TEST(TwinStudy, TrainsOtherwiseWithAnotherModelBatchOptimizerLayoutAttentionOrFeature) {
  const protocol::Trial trial = predicted_study().plan.trials.front();
  const std::vector<void (*)(protocol::Trial&)> changes = {
      [](protocol::Trial& t) { t.model.fields["num_layers"] = std::int64_t{5}; },
      [](protocol::Trial& t) { t.training.seq_length *= 2; },
      [](protocol::Trial& t) { t.optimizer.grad_reduce_in_fp32 = !t.optimizer.grad_reduce_in_fp32; },
      [](protocol::Trial& t) { t.parallel.tensor_model_parallel_size = 2; },
      [](protocol::Trial& t) { t.backend.attention = "unfused"; },
      [](protocol::Trial& t) { t.features.cross_entropy_gradient = "in_place"; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    protocol::Trial other = trial;
    changes[i](other);
    EXPECT_FALSE(trains_the_same(trial, other)) << "change " << i;
  }
}

TEST(TwinStudy, IsTheNewestOfTheWantedProvenance) {
  const base::StudyRows study = predicted_study();
  std::vector<base::StudyRows> candidates = {study, study_of("older", 2, 100), study_of("newer", 3, 200), study_of("other", 4, 300),
                                             predicted_study()};
  candidates[3].plan.trials.front().training.seq_length = 128;
  candidates[4].plan.study_id = tests::hex_id(5);
  const base::StudyRows* twin = newest_twin(study, candidates, Provenance::kModelledDevice);
  ASSERT_NE(twin, nullptr);
  EXPECT_EQ(twin->plan.name, "newer");
  EXPECT_EQ(newest_twin(study, candidates, Provenance::kMeasured), nullptr);
  EXPECT_EQ(newest_twin(study, {study}, Provenance::kPredicted), nullptr) << "a study is not its own twin";
}

TEST(TwinStudy, GivesTheHotRanksOfEachArmAndThePhasesOfTheOwnOne) {
  base::StudyRows study = predicted_study();
  base::StudyRows twin = study_of("modelled", 2);
  for (base::AttemptRows& attempt : study.attempts) {
    tests::raise_phase(attempt, 0, Phase::kBackward, 1003 * kMegabyte);
    std::erase_if(attempt.ranks, [](const base::RankRows& rank) { return rank.rank != 0; });
  }
  for (base::AttemptRows& attempt : twin.attempts) attempt.ranks[0].steps[0].phases.erase(Phase::kOptimizer);
  for (base::AttemptRows& attempt : twin.attempts) attempt.ranks[0].steps.resize(1);
  const auto arms = compare_twin(study, twin);
  ASSERT_EQ(arms.size(), 3U);
  EXPECT_EQ(arms[0].arm, "[]");
  EXPECT_EQ(arms[0].own.allocated_bytes, 1003 * kMegabyte);
  EXPECT_EQ(arms[0].twin.allocated_bytes, 1000 * kMegabyte);
  ASSERT_EQ(arms[0].phases.size(), 4U);  // build, forward, backward, optimizer
  EXPECT_EQ(arms[0].phases[2].phase, Phase::kBackward);
  EXPECT_EQ(arms[0].phases[2].own_bytes, 1003 * kMegabyte);
  EXPECT_EQ(arms[0].phases[2].twin_bytes, 1000 * kMegabyte);
  EXPECT_EQ(arms[0].phases[3].own_bytes, 700 * kMegabyte);
  EXPECT_EQ(arms[0].phases[3].twin_bytes, std::nullopt) << "not measured there";
}

TEST(TwinStudy, LeavesOutArmsThatFailedOrRanInOneStudyOnly) {
  base::StudyRows study = predicted_study();
  base::StudyRows twin = study_of("modelled", 2);
  std::erase_if(twin.attempts, [](const base::AttemptRows& attempt) { return attempt.trial.arm == "core_attn"; });
  for (base::AttemptRows& attempt : study.attempts)
    if (attempt.trial.arm == "moe_act") attempt.failure = base::Failure{};
  const auto arms = compare_twin(study, twin);
  ASSERT_EQ(arms.size(), 1U);
  EXPECT_EQ(arms[0].arm, "[]");
}

}  // namespace
}  // namespace rematch::rules

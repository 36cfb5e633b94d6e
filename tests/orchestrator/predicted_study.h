// The studies of study_builder.h as predictions: nothing is computed, so that there is no loss, and ranks stand for others.
#pragma once

#include "tests/orchestrator/study_builder.h"

namespace rematch::tests {

inline protocol::PredictionSpec make_prediction() {
  protocol::PredictionSpec prediction;
  prediction.device = "H100-80GB";
  prediction.device_memory_bytes = 1100 * kMegabyte;
  prediction.outside_allocator_bytes = 100 * kMegabyte;
  prediction.workspace_bytes = 10 * kMegabyte;
  prediction.origins = {{"device", "sweep.yaml:7:3"}, {"device_memory", "device table, H100-80GB: data sheet"}, {"graph_pool", "default"}};
  return prediction;
}

inline void make_predicted(protocol::Trial& trial) {
  trial.backend.device = "meta";
  trial.backend.memory_limit_bytes = 1000 * kMegabyte;
  trial.prediction = make_prediction();
}

inline void make_predicted(base::RankRows& rank) {
  rank.hello->device = "meta";
  rank.hello->device_name = "meta (shapes only)";
  rank.hello->provenance = protocol::Provenance::kPredicted;
  rank.hello->comm_backend = "fake";
  for (protocol::StepRecord& step : rank.steps) {
    step.loss.reset();
    step.loss_bits.clear();
    step.grad_norm.reset();
  }
  if (!rank.steps.empty())
    rank.steps.back().work = {{protocol::Pass::kForward, 4'000'000'000'000, 1'000'000, 1'000'000, 100},
                              {protocol::Pass::kUpdate, 0, 0, 50'000'000, 10}};
  if (!rank.steps.empty() && !rank.steps.back().replays.empty())
    rank.steps.back().work.push_back({protocol::Pass::kReplay, 400'000'000'000, 1'000'000, 1'000'000, 10});
}

// Every rank a prediction of itself, of nothing more than the trial says.
inline void mark_predicted(base::StudyRows& study) {
  for (protocol::Trial& trial : study.plan.trials) trial.backend.device = "meta";
  for (base::AttemptRows& attempt : study.attempts) {
    attempt.trial.backend.device = "meta";
    for (base::RankRows& rank : attempt.ranks) make_predicted(rank);
  }
}

// Every trial once; only the ranks that stand for others have records.
inline base::StudyRows predicted(StudyBuilder builder) {
  base::StudyRows study = builder.rows();
  for (protocol::Trial& trial : study.plan.trials) make_predicted(trial);
  for (base::AttemptRows& attempt : study.attempts) {
    make_predicted(attempt.trial);
    std::vector<base::RankRows> started;
    for (std::int64_t rank : protocol::started_ranks(attempt.trial)) {
      started.push_back(*base::find_rank(attempt.ranks, rank));
      make_predicted(started.back());
    }
    attempt.ranks = std::move(started);
    attempt.launch.ranks.clear();
    for (const base::RankRows& rank : attempt.ranks) attempt.launch.ranks.push_back(rank.exit);
  }
  return study;
}

// Four pipeline stages of two ranks each.
inline const protocol::ParallelSpec kStagesOfTwo = {.world_size = 8, .pipeline_model_parallel_size = 4};

}  // namespace rematch::tests

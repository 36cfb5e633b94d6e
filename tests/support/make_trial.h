// A small valid trial for tests of everything that does not care what the model is.
#pragma once

#include <cstdint>

#include "schemas/protocol/trial.h"

namespace rematch::tests {

inline protocol::Trial make_trial(std::int64_t world_size = 2) {
  protocol::Trial trial;
  trial.trial_id = "00000000000000aa";
  trial.group_id = "00000000000000bb";
  trial.study = "test";
  trial.arm = "[]";
  trial.is_control = true;
  trial.trainer_build_id = "fake-trainer-1";
  trial.timeout_ms = 20'000;
  trial.collective_timeout_ms = 10'000;
  trial.model.family = "none";
  trial.training = {64, 1, 2 * world_size, 8, 1234, true};
  trial.optimizer.lr = 1e-3;
  trial.parallel.world_size = world_size;
  trial.backend = {"cpu", "fused", std::nullopt, false};
  trial.recompute = {.recompute_granularity = "selective", .recompute_modules = std::vector<std::string>{}, .core_revision = "24bad8e6"};
  trial.measure = {4, 2};
  return trial;
}

}  // namespace rematch::tests

// Batch and sequence sizes that a layout cannot share out among its ranks. Pure; used by the controller at plan time and by parse_trial.
#pragma once

#include <string>
#include <vector>

#include "schemas/protocol/trial.h"

namespace rematch::protocol {

struct TrainingProblem {
  std::string option;   // key of the training section
  std::string message;  // what was wanted, what was found
};

// Empty when there is none. All sizes are at least 1, and the layout has no parallel_problems.
std::vector<TrainingProblem> training_problems(const TrainingSpec& training, const ParallelSpec& parallel);

}  // namespace rematch::protocol

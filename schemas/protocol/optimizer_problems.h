// Optimizer options that contradict each other, by Megatron's own assertions. Pure; used by the controller at plan time and by the trainer.
#pragma once

#include <string>
#include <vector>

#include "schemas/protocol/trial.h"

namespace rematch::protocol {

struct OptimizerProblem {
  std::string option;   // key of the optimizer section
  std::string message;  // what was wanted, what was found, what to do
};

// Every contradiction; empty when there is none.
std::vector<OptimizerProblem> optimizer_problems(const OptimizerSpec& optimizer);

}  // namespace rematch::protocol

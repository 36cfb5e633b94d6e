// One line a step and parameter with a hash of the gradient's bytes: what the gate "equal to the bit" compares.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "runtime/nn/parameter.h"

namespace rematch::train {

class GradientLog {
 public:
  // Writes <folder>/gradients-NNNNN.jsonl. Not for meta, where gradients have no bytes. Throws std::runtime_error when it cannot.
  GradientLog(const std::string& folder, int rank);
  // After the last micro-batch's backward, before gradients are reduced.
  void append(std::int64_t step, const nn::ParameterStore& store);

 private:
  std::ofstream file_;
};

}  // namespace rematch::train

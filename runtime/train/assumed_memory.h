// What a prediction assumes that libraries and graphs take inside the allocator whatever the model is: held from the build to the end, role
// temporaries. Nothing without a prediction.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "schemas/protocol/prediction.h"

namespace rematch::train {

class AssumedMemory {
 public:
  // Failure: c10::OutOfMemoryError from module "workspaces" or "graph_pools".
  AssumedMemory(const std::optional<protocol::PredictionSpec>& prediction, at::Device device);

 private:
  at::Tensor workspaces_;
  at::Tensor graph_pools_;
};

}  // namespace rematch::train

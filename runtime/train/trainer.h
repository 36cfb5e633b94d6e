// One rank's training job: builds the model, then runs the steps of the trial, saying so to the recorder.
// Failure: c10::OutOfMemoryError, base::CommError, base::NumericsError, base::BadTrial; the caller maps them to exit codes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "probes/device/device_memory.h"
#include "runtime/mesh/mesh.h"
#include "runtime/train/recorder.h"
#include "schemas/protocol/trial.h"

namespace rematch::train {

struct TrainRequest {
  const protocol::Trial& trial;
  const protocol::RecomputeSpec& resolved_recompute;
  const mesh::Mesh& mesh;
  probes::DeviceMemory& memory;
  std::optional<std::string> gradient_log_folder;
};

// Returns the number of steps completed.
std::int64_t train(const TrainRequest& request, Recorder& recorder);

}  // namespace rematch::train

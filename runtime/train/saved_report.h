// What one micro-batch's forward through all chunks of a rank leaves for its backward, as a table for people: tensor by tensor, then by
// layer and by region.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "probes/device/device_memory.h"
#include "runtime/base/saved_tensors.h"
#include "runtime/train/built_model.h"

namespace rematch::train {

struct HeldForBackward {
  std::vector<base::SavedTensor> tensors;
  std::int64_t held_bytes = 0;  // by the allocator: after the forward less before the batch was made
};

// Runs the forward of the first micro-batch. Collective over the pipeline.
HeldForBackward held_for_backward(BuiltModel& built, const mesh::Mesh& mesh, const probes::DeviceMemory& memory);

// Aligned columns: module, region (- outside every one), tensor, sizes, type, bytes. Then totals of each layer, of each region, and the
// difference to held_bytes, which the loss and its like make up.
std::string saved_tensor_table(const HeldForBackward& held);

}  // namespace rematch::train

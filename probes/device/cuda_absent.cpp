#include <stdexcept>

#include "probes/device/device_memory.h"

namespace rematch::probes {

std::unique_ptr<DeviceMemory> make_cuda_memory(int, const AllocatorOptions&) {
  throw std::runtime_error(
      "backend.device: cuda wants a trainer built with WITH_CUDA=ON; this one was built without. Build preset `cuda`.");
}

bool built_with_cuda() { return false; }

}  // namespace rematch::probes

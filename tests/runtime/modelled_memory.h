// The modelled CPU device of a test process: one for all its tests.
#pragma once

#include <optional>

#include "probes/device/device_memory.h"

namespace rematch {

inline probes::DeviceMemory& modelled_memory() {
  static auto& device = *probes::make_modelled_cpu_memory({}).release();
  return device;
}

}  // namespace rematch

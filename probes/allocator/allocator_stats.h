// Statistics of the modelled allocator, named as in c10::CachingDeviceAllocator::DeviceStats. Plain values.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rematch::probes {

struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;           // since the last reset_peaks
  std::int64_t lifetime_peak = 0;  // never reset

  void increase(std::int64_t amount) {
    current += amount;
    peak = std::max(peak, current);
    lifetime_peak = std::max(lifetime_peak, current);
  }
  void decrease(std::int64_t amount) { current -= amount; }
  void reset_peak() { peak = current; }
};

struct AllocatorStats {
  Stat allocation;                     // live blocks, a count
  Stat segment;                        // fixed segments, a count; expandable ones are not counted, as in PyTorch
  Stat allocated_bytes;                // live blocks at their rounded size
  Stat reserved_bytes;                 // taken from the device: live, cached and lost to rounding
  Stat requested_bytes;                // live blocks as they were asked for
  std::int64_t num_alloc_retries = 0;  // second tries after all cached memory was released
  std::int64_t num_ooms = 0;
  std::int64_t num_device_alloc = 0;  // segments taken or mapped
  std::int64_t num_device_free = 0;   // segments given back or unmapped
};

}  // namespace rematch::probes

// The GPUs that a prediction can stand for: what each has and what it can do, every figure with its origin. None is fitted to a result.
// Read by spec (names), plan (memory) and rules (time). Pure values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::base {

template <typename T>
struct Sourced {
  T value;
  const char* origin;
};

struct DeviceRow {
  const char* name;
  // Bytes.
  Sourced<std::int64_t> memory_bytes;             // what the driver reports as total
  Sourced<std::int64_t> outside_allocator_bytes;  // CUDA context and communication buffers of one rank
  Sourced<std::int64_t> workspace_bytes;          // of matrix products, inside the allocator for the whole run
  // Peaks, a second.
  Sourced<double> matmul_flops_per_s;   // dense bf16, a multiply-add is two
  Sourced<double> memory_bytes_per_s;   // of the device's own memory
  Sourced<double> nvlink_bytes_per_s;   // a GPU and direction, inside a node
  Sourced<double> network_bytes_per_s;  // a GPU and direction, between nodes
  Sourced<double> launch_ns;            // a kernel launch on the host
};

// GPUs of one node, which NVLink joins.
inline constexpr std::int64_t kGpusPerNode = 8;

std::span<const DeviceRow> device_rows();
std::vector<std::string> device_names();              // in the table's order
const DeviceRow* find_device(std::string_view name);  // nullptr: no such row

}  // namespace rematch::base

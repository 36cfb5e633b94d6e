#include "orchestrator/base/device_table.h"

#include <algorithm>
#include <array>

namespace rematch::base {

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// 512 MiB of context with cuBLAS and the kernels loaded; a communicator keeps 4 MiB (NCCL_BUFFSIZE) for each channel and neighbour, about
// 16 channels of a ring in both directions, 128 MiB, and a training job has about eight communicators.
constexpr Sourced<std::int64_t> kOutsideAllocator = {
    1536 * kMiB,
    "assumed: 0.5 GiB of CUDA context, and 1 GiB of communication buffers (eight communicators of 16 channels, two neighbours and "
    "NCCL's default buffer of 4 MiB)"};
constexpr Sourced<std::int64_t> kHopperWorkspace = {
    160 * kMiB,
    "PyTorch's cuBLAS workspace of 32 MiB, and Transformer Engine's for grouped products, 4 streams of 32 MiB, from compute "
    "capability 9 on"};
constexpr Sourced<std::int64_t> kAmpereWorkspace = {
    8'519'680 + 16 * kMiB,
    "PyTorch's cuBLAS workspace of 8.125 MiB, and Transformer Engine's for grouped products, 4 streams of 4 MiB, below "
    "compute capability 9"};
constexpr Sourced<double> kNdrNetwork = {50e9, "one 400 Gb/s InfiniBand port a GPU, as in the vendor's systems of 8 GPUs"};
constexpr Sourced<double> kLaunch = {5'000, "assumed: 5 us, the order of what the host needs for one launch from an eager framework"};

constexpr std::array<DeviceRow, 4> kRows = {{
    {"H100-80GB",
     {81'008 * kMiB, "79.11 GiB, the least that the driver was seen to report (out-of-memory messages show 79.11 to 79.19, NVML 79.65)"},
     kOutsideAllocator,
     kHopperWorkspace,
     {989.4e12, "data sheet of H100 SXM: 1978.9 TFLOP/s with sparsity, half of it dense"},
     {3.35e12, "data sheet of H100 SXM: 3.35 TB/s"},
     {450e9, "data sheet of H100 SXM: NVLink 900 GB/s in both directions together"},
     kNdrNetwork,
     kLaunch},
    {"H200",
     {143'155 * kMiB, "139.80 GiB, as the driver reports (out-of-memory messages show 139.80 to 139.81)"},
     kOutsideAllocator,
     kHopperWorkspace,
     {989.4e12, "data sheet of H200 SXM: 1978.9 TFLOP/s with sparsity, half of it dense"},
     {4.8e12, "data sheet of H200 SXM: 4.8 TB/s"},
     {450e9, "data sheet of H200 SXM: NVLink 900 GB/s in both directions together"},
     kNdrNetwork,
     kLaunch},
    {"B200",
     {182'630 * kMiB, "178.35 GiB, as the driver reports (pytorch/ao pull request 4002)"},
     kOutsideAllocator,
     kHopperWorkspace,
     {2250e12, "data sheet of HGX B200: 4.5 PFLOP/s a GPU with sparsity, half of it dense"},
     {7.7e12, "HGX B200: 7680 bits at 3996 MHz, as the driver reports (pytorch/ao pull request 4002)"},
     {900e9, "data sheet of HGX B200: NVLink 1.8 TB/s in both directions together"},
     kNdrNetwork,
     kLaunch},
    {"A100",
     {81'050 * kMiB, "79.15 GiB, as the driver reports of the 80 GB model (out-of-memory messages show 79.15 to 79.35)"},
     kOutsideAllocator,
     kAmpereWorkspace,
     {312e12, "data sheet of A100 80GB SXM: 624 TFLOP/s with sparsity, half of it dense"},
     {2.039e12, "data sheet of A100 80GB SXM: 2039 GB/s"},
     {300e9, "data sheet of A100 80GB SXM: NVLink 600 GB/s in both directions together"},
     {25e9, "data sheet of DGX A100: one 200 Gb/s InfiniBand port a GPU"},
     kLaunch},
}};

}  // namespace

std::span<const DeviceRow> device_rows() { return kRows; }

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const DeviceRow& row : kRows) names.emplace_back(row.name);
  return names;
}

const DeviceRow* find_device(std::string_view name) {
  const auto found = std::find_if(kRows.begin(), kRows.end(), [&](const DeviceRow& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : &*found;
}

}  // namespace rematch::base

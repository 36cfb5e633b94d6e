#include "probes/host/gpu_links.h"

#include <dlfcn.h>

#include <memory>

namespace rematch::probes {

namespace {

// The few declarations of nvml.h that are used here: an opaque handle, 0 for success, 1 for an active link.
using Device = void*;
using Init = int (*)();
using HandleByBusId = int (*)(const char*, Device*);
using NvLinkState = int (*)(Device, unsigned, int*);

constexpr int kSuccess = 0;
constexpr unsigned kMaxLinks = 18;

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};

template <typename Function>
Function function_of(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

unsigned num_active_links(NvLinkState link_state, Device device) {
  unsigned num_active = 0;
  for (unsigned link = 0; link < kMaxLinks; ++link) {
    int is_active = 0;
    if (link_state(device, link, &is_active) == kSuccess && is_active == 1) ++num_active;
  }
  return num_active;
}

}  // namespace

std::optional<std::string> gpu_link_types(const std::string& pci_bus_id) {
  const std::unique_ptr<void, CloseLibrary> library(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
  if (library == nullptr) return std::nullopt;
  const auto init = function_of<Init>(library.get(), "nvmlInit_v2");
  const auto shutdown = function_of<Init>(library.get(), "nvmlShutdown");
  const auto handle_by_bus_id = function_of<HandleByBusId>(library.get(), "nvmlDeviceGetHandleByPciBusId_v2");
  const auto link_state = function_of<NvLinkState>(library.get(), "nvmlDeviceGetNvLinkState");
  if (init == nullptr || shutdown == nullptr || handle_by_bus_id == nullptr || link_state == nullptr) return std::nullopt;
  if (init() != kSuccess) return std::nullopt;
  Device device = nullptr;
  std::optional<std::string> links;
  if (handle_by_bus_id(pci_bus_id.c_str(), &device) == kSuccess) {
    const unsigned num_active = num_active_links(link_state, device);
    links = num_active > 0 ? "nvlink:" + std::to_string(num_active) : "pcie";
  }
  shutdown();
  return links;
}

}  // namespace rematch::probes

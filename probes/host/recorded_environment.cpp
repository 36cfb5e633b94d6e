#include "probes/host/recorded_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace rematch::probes {

namespace {

constexpr std::array<std::string_view, 17> kPrefixes = {"CUBLAS_", "CUDA_",      "CUDNN_",   "FI_",    "GLOO_", "GOMP_",
                                                        "KMP_",    "LD_PRELOAD", "MALLOC_",  "MKL_",   "NCCL_", "NVIDIA_",
                                                        "NVTE_",   "OMP_",       "PYTORCH_", "TORCH_", "UCX_"};

bool is_recorded(std::string_view name) {
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

std::map<std::string, std::string> recorded_environment() {
  std::map<std::string, std::string> recorded;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && is_recorded(text.substr(0, equals)))
      recorded.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return recorded;
}

std::optional<std::string> allocator_settings() {
  const auto recorded = recorded_environment();
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"})
    if (const auto found = recorded.find(name); found != recorded.end()) return found->second;
  return std::nullopt;
}

}  // namespace rematch::probes

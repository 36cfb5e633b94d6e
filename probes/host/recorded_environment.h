// The environment variables that may change what a trainer measures: allocator, communication, threads, kernels. Each rank records those
// that are set, and two trials with different ones are not compared. Not safe while another thread changes the environment.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace rematch::probes {

// Set variables whose name begins with one of the recorded prefixes (CUDA_, NCCL_, NVTE_, PYTORCH_, OMP_, ...), or is LD_PRELOAD.
std::map<std::string, std::string> recorded_environment();

// PYTORCH_CUDA_ALLOC_CONF, else PYTORCH_ALLOC_CONF, as LibTorch reads them; nullopt where neither is set.
std::optional<std::string> allocator_settings();

}  // namespace rematch::probes

#include "runtime/train/assumed_memory.h"

#include <ATen/ATen.h>

#include <cstdint>

#include "runtime/base/scope.h"

namespace rematch::train {

namespace {

at::Tensor held_bytes(const char* module, std::int64_t num_bytes, at::Device device) {
  const base::ModuleScope scope(module);
  const base::RoleScope role(protocol::Role::kTemporaries);
  return at::empty({num_bytes}, at::TensorOptions(device).dtype(at::kByte));
}

}  // namespace

AssumedMemory::AssumedMemory(const std::optional<protocol::PredictionSpec>& prediction, at::Device device) {
  if (!prediction) return;
  workspaces_ = held_bytes("workspaces", prediction->workspace_bytes, device);
  graph_pools_ = held_bytes("graph_pools", prediction->graph_pool_bytes, device);
}

}  // namespace rematch::train

// What every module of the model is built with.
#pragma once

#include "runtime/mesh/mesh.h"
#include "runtime/nn/parameter.h"
#include "runtime/nn/tensor_parallel.h"
#include "runtime/recompute/policy.h"

namespace rematch::nn {

// All outlive the module.
struct ModuleContext {
  const mesh::Mesh& mesh;
  ParameterStore& store;
  recompute::Policy& policy;
};

// What CoreAttention.streams is: null where the stack of layers draws from the model-parallel stream as a whole (sequence parallelism).
inline random::RandomStreams* attention_streams(const ModuleContext& context, const TensorParallel& tensor_parallel) {
  return tensor_parallel.shards_rows() ? nullptr : &context.policy.random();
}

}  // namespace rematch::nn

// All parameters of a model chunk into buffers, grouped as Megatron's DistributedDataParallel groups them. Called once a chunk, after it
// declared its parameters.
#pragma once

#include <memory>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/nn/main_grad.h"
#include "runtime/nn/parameter.h"
#include "runtime/parallel/param_buffer.h"
#include "schemas/protocol/trial.h"

namespace rematch::parallel {

// Megatron's: elements, max(40M, 1M a data- and context-parallel rank); a single bucket on all but the first pipeline rank and chunk, whose
// gradients are the last to come.
std::int64_t bucket_size(const mesh::Mesh& mesh, std::int64_t model_chunk);

struct PlaceRequest {
  const protocol::OptimizerSpec& optimizer;
  std::int64_t model_chunk = 0;  // of this rank
  nn::DummyGrads& dummies;
};

// One buffer for each (expert or not, type) that occurs; dense before experts, bf16 before fp32. fp32 parameters have fp32 gradients; those
// of bf16 parameters are as the options say. Store, mesh and dummies outlive the buffers.
std::vector<std::unique_ptr<ParamBuffer>> place_parameters(nn::ParameterStore& store, const mesh::Mesh& mesh, const PlaceRequest& request);

}  // namespace rematch::parallel

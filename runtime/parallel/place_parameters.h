// All parameters of a model into buffers, grouped as Megatron's DistributedDataParallel groups them. Called once, after the model declared
// its parameters.
#pragma once

#include <memory>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/nn/main_grad.h"
#include "runtime/nn/parameter.h"
#include "runtime/parallel/param_buffer.h"
#include "schemas/protocol/trial.h"

namespace rematch::parallel {

// One buffer for each (expert or not, type) that occurs; dense before experts, bf16 before fp32. fp32 parameters have fp32 gradients; those
// of bf16 parameters are as the options say. Store, mesh and dummies outlive the buffers.
std::vector<std::unique_ptr<ParamBuffer>> place_parameters(nn::ParameterStore& store, const mesh::Mesh& mesh,
                                                           const protocol::OptimizerSpec& spec, nn::DummyGrads& dummies);

}  // namespace rematch::parallel

// Gradients of the parameters that every tensor-parallel rank has whole but meets with its own rows or heads only: Megatron Core's
// _allreduce_non_tensor_model_parallel_grads.
#pragma once

#include "runtime/comm/communicator.h"
#include "runtime/nn/parameter.h"

namespace rematch::parallel {

// Sums the main_grad of parameters with TensorGrad::kPart over `tensor_group`, in one flat buffer a type (role kCommunication). Once a
// step, after the last backward. Collective; nothing when the group is alone.
void sum_tensor_grads(nn::ParameterStore& store, const comm::Communicator& tensor_group);

}  // namespace rematch::parallel

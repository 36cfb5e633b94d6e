#include "runtime/parallel/tensor_grads.h"

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"

namespace rematch::parallel {

namespace {

std::vector<at::Tensor> partial_grads(nn::ParameterStore& store, at::ScalarType type) {
  std::vector<at::Tensor> grads;
  for (const auto& parameter : store.all())
    if (parameter.declaration.tensor_grad == nn::TensorGrad::kPart && parameter.main_grad.scalar_type() == type)
      grads.push_back(parameter.main_grad.view({-1}));
  return grads;
}

// Each gradient beside its place in the flat buffer.
template <typename Copy>
void for_each_place(const std::vector<at::Tensor>& grads, const at::Tensor& flat, const Copy& copy) {
  nn::kernel({flat, flat}, [&] {
    std::int64_t first = 0;
    for (const auto& grad : grads) {
      copy(grad, flat.narrow(0, first, grad.numel()));
      first += grad.numel();
    }
  });
}

void sum_flat(const std::vector<at::Tensor>& grads, const comm::Communicator& tensor_group) {
  std::int64_t count = 0;
  for (const auto& grad : grads) count += grad.numel();
  const base::RoleScope role(protocol::Role::kCommunication);
  const auto flat = at::empty({count}, grads.front().options());
  for_each_place(grads, flat, [](const at::Tensor& grad, const at::Tensor& place) { at::Tensor(place).copy_(grad); });
  tensor_group.all_reduce_sum(flat);
  for_each_place(grads, flat, [](const at::Tensor& grad, const at::Tensor& place) { at::Tensor(grad).copy_(place); });
}

}  // namespace

void sum_tensor_grads(nn::ParameterStore& store, const comm::Communicator& tensor_group) {
  if (tensor_group.is_alone()) return;
  for (const auto type : {at::kBFloat16, at::kFloat})
    if (const auto grads = partial_grads(store, type); !grads.empty()) sum_flat(grads, tensor_group);
}

}  // namespace rematch::parallel

#include "runtime/nn/tensor_parallel.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

#include "runtime/base/errors.h"
#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"
#include "runtime/nn/saved_tensor_parallel.h"

namespace rematch::nn {

namespace {

// Collectives want contiguous memory; a copy for them is not the model's.
at::Tensor packed(const at::Tensor& x) {
  if (x.is_contiguous()) return x;
  const probes::ScratchScope scratch;
  return x.contiguous();
}

std::vector<std::int64_t> with_rows(const at::Tensor& x, std::int64_t num_rows) {
  auto sizes = x.sizes().vec();
  sizes[0] = num_rows;
  return sizes;
}

class ForOwnHeadsFunction : public torch::autograd::Function<ForOwnHeadsFunction> {
 public:
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x_LD, const TensorParallel& tensor_parallel) {
    save_tensor_parallel(ctx, tensor_parallel);
    return all_rows(x_LD, tensor_parallel);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list grads) {
    const auto tensor_parallel = saved_tensor_parallel(ctx);
    if (tensor_parallel.shards_rows()) return {summed(grads[0], tensor_parallel), at::Tensor()};
    const auto dy_TD = grads[0].clone(at::MemoryFormat::Contiguous);  // the gradient is not ours to change
    count_moved({dy_TD, grads[0]});
    return {summed(dy_TD, tensor_parallel), at::Tensor()};
  }
};

}  // namespace

TensorParallel::TensorParallel(const mesh::Mesh& mesh)
    : TensorParallel(mesh.tensor(), mesh.dims().spec().sequence_parallel ? Rows::kSharded : Rows::kWhole) {}

std::int64_t TensorParallel::share(std::int64_t count, const std::string& field) const {
  if (count % size() != 0)
    throw base::BadTrial(field + ": wanted a multiple of tensor_model_parallel_size (" + std::to_string(size()) + "), found " +
                         std::to_string(count));
  return count / size();
}

SequenceShape TensorParallel::rows_of(SequenceShape sequence) const {
  if (shards_rows()) sequence.length /= size();
  return sequence;
}

ParameterDeclaration TensorParallel::cut_outputs(ParameterDeclaration whole, std::vector<std::int64_t> sections) const {
  return split_parameter(std::move(whole), {.dim = 0, .sections = std::move(sections), .rank = group_->rank(), .count = group_->size()});
}

ParameterDeclaration TensorParallel::cut_inputs(ParameterDeclaration whole) const {
  return split_parameter(std::move(whole), {.dim = 1, .sections = {}, .rank = group_->rank(), .count = group_->size()});
}

at::Tensor gathered_rows(const at::Tensor& x_LD, const comm::Communicator& group) {
  const base::RoleScope role(protocol::Role::kCommunication);
  auto x_TD = at::empty(with_rows(x_LD, x_LD.size(0) * group.size()), x_LD.options());
  group.all_gather(x_TD, packed(x_LD));
  return x_TD;
}

at::Tensor reduced_rows(const at::Tensor& x_TD, const comm::Communicator& group) {
  auto x_LD = at::empty(with_rows(x_TD, x_TD.size(0) / group.size()), x_TD.options());
  group.reduce_scatter_sum(x_LD, packed(x_TD));
  return x_LD;
}

at::Tensor all_rows(const at::Tensor& x_LD, const TensorParallel& tensor_parallel) {
  return tensor_parallel.shards_rows() ? gathered_rows(x_LD, tensor_parallel.group()) : x_LD;
}

at::Tensor summed(const at::Tensor& addend_TD, const TensorParallel& tensor_parallel) {
  if (tensor_parallel.shards_rows()) return reduced_rows(addend_TD, tensor_parallel.group());
  tensor_parallel.group().all_reduce_sum(addend_TD);
  return addend_TD;
}

at::Tensor for_own_heads(const at::Tensor& x_LD, const TensorParallel& tensor_parallel) {
  return ForOwnHeadsFunction::apply(x_LD, tensor_parallel);
}

}  // namespace rematch::nn

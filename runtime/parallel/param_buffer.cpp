#include "runtime/parallel/param_buffer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"

namespace rematch::parallel {

namespace {

constexpr std::int64_t kParamAlignment = 64;    // elements
constexpr std::int64_t kBucketAlignment = 128;  // elements, times what the shards need

// In place, by a number of the host: LibTorch wraps it in a tensor, which the device does not have.
void scale(at::Tensor& tensor, double factor) {
  if (factor != 1) nn::kernel({tensor, tensor}, [&] { tensor.mul_(factor); });
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

ParamBuffer::ParamBuffer(const std::vector<nn::Parameter*>& parameters, const comm::Communicator& group, at::Device device,
                         const BufferOptions& options)
    : group_(group), options_(options), kind_(parameters.front()->declaration.kind) {
  place(parameters);
  make_tensors(parameters, device);
  find_pieces(parameters);
}

// Last declared first: gradients arrive in this order.
void ParamBuffer::place(const std::vector<nn::Parameter*>& parameters) {
  const auto bucket_multiple = is_sharded() ? std::lcm(static_cast<std::int64_t>(group_.size()), kBucketAlignment) : 1;
  const auto param_multiple = is_sharded() ? kParamAlignment : 1;
  offsets_.resize(parameters.size());
  std::int64_t bucket_first = 0, next = 0;
  const auto close_bucket = [&] {
    const auto count = rounded_up(next - bucket_first, bucket_multiple);
    buckets_.push_back({bucket_first, count});
    bucket_first = next = bucket_first + count;
  };
  for (std::size_t i = parameters.size(); i-- > 0;) {
    next = rounded_up(next, param_multiple);
    offsets_[i] = next;
    next += parameters[i]->num_elements();
    if (next - bucket_first >= options_.bucket_size) close_bucket();
  }
  if (next > bucket_first) close_bucket();
}

void ParamBuffer::make_tensors(const std::vector<nn::Parameter*>& parameters, at::Device device) {
  const auto param_options = at::TensorOptions(device).dtype(parameters.front()->declaration.dtype);
  const auto total = buckets_.back().first + buckets_.back().count;
  {
    const base::RoleScope role(protocol::Role::kGradients);
    grads_ = at::zeros({total}, param_options.dtype(options_.grad_dtype));
  }
  const base::RoleScope role(protocol::Role::kParameters);
  if (is_sharded()) params_ = at::zeros({total}, param_options);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto& parameter = *parameters[i];
    const auto& shape = parameter.declaration.shape;
    const auto view = [&](const at::Tensor& flat) { return flat.narrow(0, offsets_[i], parameter.num_elements()).view(shape).detach(); };
    parameter.tensor = (is_sharded() ? view(params_) : at::zeros(shape, param_options)).requires_grad_();
    nn::send_gradients(parameter, view(grads_), options_.dummies);
  }
}

void ParamBuffer::find_pieces(const std::vector<nn::Parameter*>& parameters) {
  const auto add_piece = [this](const nn::Parameter& parameter, std::int64_t first, std::int64_t count) {
    const auto part = [&](const at::Tensor& whole) { return whole.detach().view({-1}).narrow(0, first, count); };
    pieces_.push_back({.param = part(parameter.tensor),
                       .grad = part(parameter.main_grad),
                       .decays = parameter.declaration.shape.size() > 1,
                       .is_split = parameter.declaration.split.has_value()});
  };
  for (const auto& bucket : buckets_) {
    const auto count = is_sharded() ? bucket.count / group_.size() : bucket.count;
    const auto first = bucket.first + (is_sharded() ? group_.rank() * count : 0);
    for (std::size_t i = parameters.size(); i-- > 0;) {
      const auto begin = std::max(first, offsets_[i]);
      const auto end = std::min(first + count, offsets_[i] + parameters[i]->num_elements());
      if (begin < end) add_piece(*parameters[i], begin - offsets_[i], end - begin);
    }
  }
}

at::Tensor ParamBuffer::shard_of(const at::Tensor& flat, const Bucket& bucket) const {
  const auto count = bucket.count / group_.size();
  return flat.narrow(0, bucket.first + group_.rank() * count, count);
}

void ParamBuffer::zero_grads() {
  grads_.zero_();
  nn::count_moved({grads_});
}

void ParamBuffer::sync_grads(double divisor) {
  for (const auto& bucket : buckets_) {
    auto whole = grads_.narrow(0, bucket.first, bucket.count);
    scale(whole, 1 / divisor);
    if (group_.is_alone()) continue;
    if (is_sharded())
      group_.reduce_scatter_sum(shard_of(grads_, bucket), whole);
    else
      group_.all_reduce_sum(whole);
  }
}

void ParamBuffer::gather_params() {
  if (!is_sharded() || group_.is_alone()) return;
  for (const auto& bucket : buckets_) group_.all_gather(params_.narrow(0, bucket.first, bucket.count), shard_of(params_, bucket));
}

}  // namespace rematch::parallel

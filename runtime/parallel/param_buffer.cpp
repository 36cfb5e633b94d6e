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
  if (factor != 1) nn::kernel(tensor, [&] { tensor.mul_(factor); });
}

std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

}  // namespace

ParamBuffer::ParamBuffer(const std::vector<nn::Parameter*>& parameters, const comm::Communicator& group, at::Device device,
                         std::int64_t bucket_size)
    : group_(group) {
  place(parameters, bucket_size);
  find_pieces(parameters);
  const std::int64_t total = buckets_.empty() ? 0 : buckets_.back().first + buckets_.back().count;
  const auto options = at::TensorOptions(device).dtype(at::kBFloat16);
  const auto zeros_as = [&](protocol::Role kind) {
    const base::RoleScope role(kind);
    return at::zeros({total}, options);
  };
  params_ = zeros_as(protocol::Role::kParameters);
  grads_ = zeros_as(protocol::Role::kGradients);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    auto& parameter = *parameters[i];
    const auto view = [&](const at::Tensor& flat) {
      return flat.narrow(0, offsets_[i], parameter.num_elements()).view(parameter.declaration.shape).detach();
    };
    parameter.tensor = view(params_).requires_grad_();
    parameter.tensor.mutable_grad() = view(grads_);  // autograd adds into it in place
  }
}

// Last declared first: gradients arrive in this order.
void ParamBuffer::place(const std::vector<nn::Parameter*>& parameters, std::int64_t bucket_size) {
  const auto bucket_multiple = std::lcm(static_cast<std::int64_t>(group_.size()), kBucketAlignment);
  offsets_.resize(parameters.size());
  std::int64_t bucket_first = 0, next = 0;
  const auto close_bucket = [&] {
    const auto count = rounded_up(next - bucket_first, bucket_multiple);
    buckets_.push_back({bucket_first, count});
    shard_elements_ += count / group_.size();
    bucket_first = next = bucket_first + count;
  };
  for (std::size_t i = parameters.size(); i-- > 0;) {
    next = rounded_up(next, kParamAlignment);
    offsets_[i] = next;
    next += parameters[i]->num_elements();
    if (next - bucket_first >= bucket_size) close_bucket();
  }
  if (next > bucket_first) close_bucket();
}

void ParamBuffer::find_pieces(const std::vector<nn::Parameter*>& parameters) {
  std::int64_t shard_first = 0;  // of the current bucket, in the flat shard
  for (const auto& bucket : buckets_) {
    const auto count = bucket.count / group_.size();
    const auto first = bucket.first + group_.rank() * count;
    for (std::size_t i = parameters.size(); i-- > 0;) {
      const auto begin = std::max(first, offsets_[i]);
      const auto end = std::min(first + count, offsets_[i] + parameters[i]->num_elements());
      if (begin < end) pieces_.push_back({shard_first + begin - first, end - begin, parameters[i]->declaration.shape.size() > 1});
    }
    shard_first += count;
  }
}

at::Tensor ParamBuffer::shard_of(const at::Tensor& flat, const Bucket& bucket) const {
  const auto count = bucket.count / group_.size();
  return flat.narrow(0, bucket.first + group_.rank() * count, count);
}

std::vector<at::Tensor> ParamBuffer::shards_of(const at::Tensor& flat) const {
  std::vector<at::Tensor> shards;
  for (const auto& bucket : buckets_) shards.push_back(shard_of(flat, bucket));
  return shards;
}

void ParamBuffer::zero_grads() { grads_.zero_(); }

void ParamBuffer::reduce_scatter_grads(double divisor) {
  for (const auto& bucket : buckets_) {
    auto whole = grads_.narrow(0, bucket.first, bucket.count);
    scale(whole, 1 / divisor);
    if (!group_.is_alone()) group_.reduce_scatter_sum(shard_of(grads_, bucket), whole);
  }
}

void ParamBuffer::all_gather_params() {
  if (group_.is_alone()) return;
  for (const auto& bucket : buckets_) group_.all_gather(params_.narrow(0, bucket.first, bucket.count), shard_of(params_, bucket));
}

}  // namespace rematch::parallel

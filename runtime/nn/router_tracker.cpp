#include "runtime/nn/router_tracker.h"

#include <ATen/ATen.h>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

RouterTracker::RouterTracker(const TrackerShape& shape, const comm::Communicator& data_group, at::Device device)
    : shape_(shape), data_group_(data_group) {
  const base::RoleScope role(protocol::Role::kParameters);
  const auto counts = [&] { return at::zeros({shape.num_experts}, at::TensorOptions(device).dtype(at::kFloat)); };
  if (shape.bias_update_rate) {
    expert_bias_E_ = counts();
    local_tokens_E_ = counts();
  }
  if (shape.load_balancing == LoadBalancing::kGlobalAuxLoss) global_tokens_E_ = counts();
}

void RouterTracker::record(const at::Tensor& tokens_E) {
  if (local_tokens_E_.defined()) local_tokens_E_.add_(tokens_E);
}

std::pair<at::Tensor, double> RouterTracker::count(const at::Tensor& tokens_E, std::int64_t num_tokens) {
  const auto local = static_cast<double>(num_tokens);
  if (!global_tokens_E_.defined()) return {tokens_E, local};
  const auto summed_E = tokens_E.to(at::kFloat).clone();
  data_group_.all_reduce_sum(summed_E);
  global_tokens_E_.add_(summed_E);
  ++num_counts_;
  return {global_tokens_E_ / static_cast<double>(num_counts_), local * data_group_.size()};
}

void RouterTracker::finish_step() {
  if (global_tokens_E_.defined()) kernel(global_tokens_E_, [&] { global_tokens_E_.zero_(); });
  num_counts_ = 0;
  if (!expert_bias_E_.defined()) return;
  kernel(expert_bias_E_, [&] {
    data_group_.all_reduce_sum(local_tokens_E_);
    expert_bias_E_.add_((local_tokens_E_.mean() - local_tokens_E_).sign(), *shape_.bias_update_rate);
    local_tokens_E_.zero_();
  });
}

std::optional<double> RouterTracker::take_loss() {
  if (num_losses_ == 0) return std::nullopt;
  const double mean = std::exchange(loss_sum_, 0.0) / static_cast<double>(std::exchange(num_losses_, 0));
  return mean;
}

}  // namespace rematch::nn

#include "runtime/nn/router_tracker.h"

#include <ATen/ATen.h>

#include <utility>

#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

std::vector<double> on_host(const at::Tensor& values) {
  const auto host = values.to(at::kCPU, at::kDouble).contiguous();
  return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
}

}  // namespace

RouterTracker::RouterTracker(const TrackerShape& shape, const mesh::Mesh& mesh) : shape_(shape), mesh_(mesh) {
  const base::RoleScope role(protocol::Role::kParameters);
  const auto counts = [&] { return at::zeros({shape.num_experts}, at::TensorOptions(mesh.device()).dtype(at::kFloat)); };
  if (shape.bias_update_rate) {
    expert_bias_E_ = counts();
    local_tokens_E_ = counts();
  }
  if (shape.load_balancing == LoadBalancing::kGlobalAuxLoss) global_tokens_E_ = counts();
}

bool RouterTracker::begin(std::int64_t micro_batch) { return loss_weights_.try_emplace(micro_batch).second; }

void RouterTracker::record(const at::Tensor& tokens_E) {
  if (local_tokens_E_.defined()) local_tokens_E_.add_(tokens_E);
}

const comm::Communicator& RouterTracker::counting_group() const {
  return mesh_.group(global_tokens_E_.defined() ? protocol::Axis::kTensorDataContext : protocol::Axis::kTensorContext);
}

void RouterTracker::count(SequenceShape sequence, const at::Tensor& sums_2GE) {
  const auto& group = counting_group();
  if (!group.is_alone()) group.all_reduce_sum(sums_2GE);
  kernel({sums_2GE}, [&] {
    auto tokens_GE = sums_2GE.select(0, 0).to(at::kDouble);
    if (global_tokens_E_.defined()) {
      global_tokens_E_.add_(tokens_GE.view({-1}));
      tokens_GE = (global_tokens_E_.to(at::kDouble) / static_cast<double>(++num_counts_)).view_as(tokens_GE);
    }
    const auto num_rows = static_cast<double>(sequence.num_tokens());
    const auto num_counted =
        (shape_.load_balancing == LoadBalancing::kSeqAuxLoss ? static_cast<double>(sequence.length) : num_rows) * group.size();
    const auto loads_GE = tokens_GE * (static_cast<double>(shape_.num_experts) / (static_cast<double>(shape_.topk) * num_counted));
    loss_sum_ += (loads_GE * sums_2GE.select(0, 1)).sum().item<double>() / (num_rows * group.size());
    ++num_losses_;
    const auto num_tokens = num_rows * mesh_.group(protocol::Axis::kTensorContext).size();
    loss_weights_.at(sequence.micro_batch) = on_host(loads_GE * (mesh_.context().size() / num_tokens));
  });
}

void RouterTracker::finish_step() {
  if (global_tokens_E_.defined()) kernel({global_tokens_E_}, [&] { global_tokens_E_.zero_(); });
  num_counts_ = 0;
  loss_weights_.clear();
  if (!expert_bias_E_.defined()) return;
  const auto& group = mesh_.group(protocol::Axis::kTensorDataContext);
  if (!group.is_alone()) group.all_reduce_sum(local_tokens_E_);
  kernel({expert_bias_E_, expert_bias_E_, local_tokens_E_}, [&] {
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

#include "runtime/parallel/distributed_optimizer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "probes/device/charge.h"
#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"

namespace rematch::parallel {

namespace {

constexpr double kNormFloor = 1e-6;  // as Megatron's clip_grad_by_total_norm_fp32

// Copies between one flat tensor and the shards of all buckets, in order.
template <typename Copy>
void for_each_slice(const at::Tensor& flat, const std::vector<at::Tensor>& shards, const Copy& copy) {
  std::int64_t first = 0;
  for (const auto& shard : shards) {
    copy(flat.narrow(0, first, shard.numel()), shard);
    first += shard.numel();
  }
}

}  // namespace

DistributedOptimizer::DistributedOptimizer(const protocol::OptimizerSpec& spec, const mesh::Mesh& mesh, std::vector<ParamBuffer*> buffers)
    : spec_(spec), mesh_(mesh) {
  const base::RoleScope role(protocol::Role::kOptimizerState);
  for (auto* buffer : buffers) {
    const auto options = at::TensorOptions(mesh.device()).dtype(at::kFloat);
    Shard shard{.buffer = buffer, .main = at::empty({buffer->shard_elements()}, options)};
    for_each_slice(shard.main, buffer->param_shards(), [](at::Tensor main, const at::Tensor& bf16) { main.copy_(bf16); });
    shards_.push_back(std::move(shard));
  }
}

void DistributedOptimizer::make_moments() {
  const base::RoleScope role(protocol::Role::kOptimizerState);
  for (auto& shard : shards_) {
    shard.exp_avg = at::zeros_like(shard.main);
    shard.exp_avg_sq = at::zeros_like(shard.main);
  }
  has_moments_ = true;
}

void DistributedOptimizer::zero_grads() {
  for (auto& shard : shards_) {
    shard.grad.reset();
    shard.buffer->zero_grads();
  }
}

void DistributedOptimizer::sync_grads() {
  // Experts see the tokens of all data-parallel ranks, so their sum too is divided by the data-parallel size.
  for (auto& shard : shards_) shard.buffer->reduce_scatter_grads(static_cast<double>(mesh_.dims().data_parallel_size()));
}

double DistributedOptimizer::grad_norm() {
  const base::RoleScope role(protocol::Role::kGradients);
  auto total = [&] {
    const probes::ScratchScope scratch;
    return at::zeros({1}, at::TensorOptions(mesh_.device()).dtype(at::kDouble));
  }();
  for (auto& shard : shards_) {
    shard.grad = at::empty_like(shard.main);
    for_each_slice(shard.grad, shard.buffer->grad_shards(), [](at::Tensor fp32, const at::Tensor& bf16) { fp32.copy_(bf16); });
    const probes::ScratchScope scratch;
    total.add_(at::linalg_vector_norm(shard.grad, 2, std::nullopt, false, at::kDouble).square());
  }
  mesh_.world().all_reduce_sum(total);
  return total.is_meta() ? 0.0 : std::sqrt(total.item<double>());
}

void DistributedOptimizer::step(double grad_norm) {
  ++num_steps_;
  const double coefficient = spec_.clip_grad > 0 ? spec_.clip_grad / (grad_norm + kNormFloor) : 1.0;
  for (auto& shard : shards_) {
    if (coefficient < 1.0) nn::kernel(shard.grad, [&] { shard.grad.mul_(coefficient); });
    update(shard);
    for_each_slice(shard.main, shard.buffer->param_shards(), [](const at::Tensor& main, at::Tensor bf16) { bf16.copy_(main); });
    shard.buffer->all_gather_params();
  }
}

void DistributedOptimizer::update(Shard& shard) {
  nn::kernel(shard.main, [&] {
    for (const bool decays : {true, false}) {
      std::vector<at::Tensor> mains, grads, averages, square_averages, steps;
      for (const auto& piece : shard.buffer->pieces()) {
        if (piece.decays != decays) continue;
        const auto part = [&](const at::Tensor& flat) { return flat.narrow(0, piece.first, piece.count); };
        mains.push_back(part(shard.main));
        grads.push_back(part(shard.grad));
        averages.push_back(part(shard.exp_avg));
        square_averages.push_back(part(shard.exp_avg_sq));
        steps.push_back(at::full({}, num_steps_, shard.main.options()));
      }
      if (mains.empty()) continue;
      at::_fused_adamw_(mains, grads, averages, square_averages, {}, steps, spec_.lr, spec_.adam_beta1, spec_.adam_beta2,
                        decays ? spec_.weight_decay : 0.0, spec_.adam_eps, /*amsgrad=*/false, /*maximize=*/false);
    }
  });
}

}  // namespace rematch::parallel

#include "runtime/parallel/optimizer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "probes/device/charge.h"
#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"
#include "runtime/parallel/adam.h"

namespace rematch::parallel {

namespace {
constexpr double kNormFloor = 1e-6;  // as Megatron's clip_grad_by_total_norm_fp32
}

Optimizer::Optimizer(const protocol::OptimizerSpec& spec, const mesh::Mesh& mesh, std::vector<ParamBuffer*> buffers)
    : spec_(spec), layout_(state_layout(spec)), mesh_(mesh) {
  const base::RoleScope role(protocol::Role::kOptimizerState);
  for (auto* buffer : buffers) {
    BufferState state{.buffer = buffer, .pieces = {}};
    for (const auto& piece : buffer->pieces()) state.pieces.emplace_back(piece, layout_);
    buffers_.push_back(std::move(state));
  }
}

void Optimizer::make_late_state() {
  const base::RoleScope role(protocol::Role::kOptimizerState);
  for (auto& state : buffers_)
    for (auto& piece : state.pieces) piece.make_late_state(layout_);
  has_late_state_ = true;
}

void Optimizer::zero_grads() {
  for (auto& state : buffers_) {
    for (auto& piece : state.pieces) piece.drop_grad_copy();
    state.buffer->zero_grads();
  }
}

void Optimizer::sync_grads() {
  // Experts see the tokens of all these ranks, so their sum too is divided by the number of them.
  for (auto& state : buffers_) state.buffer->sync_grads(mesh_.data_context().size());
}

// Of the ranks that hold the same gradients, one has them in the norm. Experts are never copied over tensor-parallel ranks: those that do
// not share an expert count among its data-parallel ones.
bool Optimizer::counts(const ParamBuffer& buffer, const PieceState& piece) const {
  const bool is_expert = buffer.kind() == nn::ParameterKind::kExpert;
  if (!is_expert && !piece.is_split() && mesh_.tensor().rank() > 0) return false;
  return spec_.use_distributed_optimizer || (is_expert ? mesh_.expert_data() : mesh_.data_context()).rank() == 0;
}

double Optimizer::grad_norm() {
  const base::RoleScope role(protocol::Role::kGradients);
  for (auto& state : buffers_)
    for (auto& piece : state.pieces) piece.copy_grad(layout_);
  const probes::ScratchScope scratch;
  const auto total = at::zeros({1}, at::TensorOptions(mesh_.device()).dtype(at::kDouble));
  base::count_kernel(grad_bytes());
  for (const auto& state : buffers_)
    for (const auto& piece : state.pieces)
      if (counts(*state.buffer, piece)) total.add_(at::linalg_vector_norm(piece.grad(), 2, std::nullopt, false, at::kDouble).square());
  mesh_.world().all_reduce_sum(total);
  return total.is_meta() ? 0.0 : std::sqrt(total.item<double>());
}

std::int64_t Optimizer::grad_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& state : buffers_)
    for (const auto& piece : state.pieces) bytes += nn::moved_bytes({piece.grad()});
  return bytes;
}

// Counted as if it always scaled: whether it does depends on values.
void Optimizer::clip(double grad_norm) {
  if (spec_.clip_grad > 0) base::count_kernel(2 * grad_bytes());
  const double coefficient = spec_.clip_grad > 0 ? spec_.clip_grad / (grad_norm + kNormFloor) : 1.0;
  if (coefficient >= 1.0) return;
  for (auto& state : buffers_)
    for (auto& piece : state.pieces) nn::uncounted_kernel(piece.grad(), [&] { at::Tensor(piece.grad()).mul_(coefficient); });
}

void Optimizer::step(double grad_norm) {
  ++num_steps_;
  clip(grad_norm);
  // Megatron's parameter groups: dense and expert parameters have an optimizer each, with those that decay in a group of their own.
  for (const auto kind : {nn::ParameterKind::kDense, nn::ParameterKind::kExpert})
    for (const bool decays : {true, false}) {
      std::vector<PieceState*> group;
      for (auto& state : buffers_)
        for (auto& piece : state.pieces)
          if (state.buffer->kind() == kind && piece.decays() == decays) group.push_back(&piece);
      if (!group.empty()) adam_update({spec_, layout_, num_steps_}, group);
    }
  for (auto& state : buffers_) state.buffer->gather_params();
}

}  // namespace rematch::parallel

#include "runtime/parallel/adam.h"

#include <ATen/ATen.h>

#include <span>

#include "runtime/nn/kernel.h"

namespace rematch::parallel {

namespace {

// Pieces are taken together until they have this many: bounds the fp32 scratch where something is held in less.
constexpr std::int64_t kBatchElements = 67'108'864;

using Tensors = std::vector<at::Tensor>;

struct Moments {
  at::Tensor exp_avg;
  at::Tensor exp_avg_sq;
};

// What the kernel steps on: fp32 moments themselves, or fp32 copies to be rounded back.
std::vector<Moments> widened(std::span<PieceState* const> pieces) {
  std::vector<Moments> wide;
  for (const auto* piece : pieces) wide.push_back({piece->exp_avg().to(at::kFloat), piece->exp_avg_sq().to(at::kFloat)});
  return wide;
}

void round_back(const at::Tensor& moment, const at::Tensor& wide) {
  if (moment.scalar_type() != at::kFloat) at::Tensor(moment).copy_(wide);
}

void update_batch(const AdamStep& step, std::span<PieceState* const> pieces, std::span<const Moments> moments) {
  const auto& spec = step.spec;
  Tensors mains, grads, averages, square_averages, step_numbers;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    mains.push_back(pieces[i]->main());
    grads.push_back(pieces[i]->grad().to(at::kFloat));
    averages.push_back(moments[i].exp_avg);
    square_averages.push_back(moments[i].exp_avg_sq);
    step_numbers.push_back(at::full({}, step.number, mains.back().options()));
  }
  at::_fused_adamw_(mains, grads, averages, square_averages, {}, step_numbers, spec.lr, spec.adam_beta1, spec.adam_beta2,
                    pieces.front()->decays() ? spec.weight_decay : 0.0, spec.adam_eps, /*amsgrad=*/false, /*maximize=*/false);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i]->store_main(mains[i]);
    round_back(pieces[i]->exp_avg(), averages[i]);
    round_back(pieces[i]->exp_avg_sq(), square_averages[i]);
  }
}

std::int64_t update_bytes(std::span<PieceState* const> pieces) {
  std::int64_t bytes = 0;
  for (const auto* piece : pieces) bytes += piece->update_bytes();
  return bytes;
}

struct Batch {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Consecutive pieces, at least one, of about kBatchElements together.
std::vector<Batch> batches_of(const std::vector<PieceState*>& group) {
  std::vector<Batch> batches;
  std::int64_t num_elements = kBatchElements;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (num_elements >= kBatchElements) {
      batches.push_back({.first = i});
      num_elements = 0;
    }
    ++batches.back().count;
    num_elements += group[i]->param().numel();
  }
  return batches;
}

}  // namespace

void adam_update(const AdamStep& step, const std::vector<PieceState*>& group) {
  const auto held = step.layout.has_mixed_moments() ? widened(group) : std::vector<Moments>();
  for (const auto& batch : batches_of(group)) {
    const auto pieces = std::span(group).subspan(batch.first, batch.count);
    base::count_kernel(update_bytes(pieces));
    nn::uncounted_kernel(group.front()->param(), [&] {
      const auto scratch = held.empty() ? widened(pieces) : std::vector<Moments>();
      update_batch(step, pieces, held.empty() ? std::span(scratch) : std::span(held).subspan(batch.first, batch.count));
    });
  }
}

}  // namespace rematch::parallel

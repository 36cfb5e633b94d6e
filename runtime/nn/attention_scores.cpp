#include "runtime/nn/attention_scores.h"

#include <limits>

#include "runtime/nn/row_kernels.h"
#include "runtime/nn/score_rows.h"

namespace rematch::nn {

namespace {

bool has_fp32_rows(const at::Tensor& scores) { return scores.is_cpu() && scores.scalar_type() == at::kFloat && scores.is_contiguous(); }

// body(rows) for ranges of rows that together are all.
template <typename Body>
void for_causal_rows(const at::Tensor& scores, QueryBlock block, double scale, const Body& body) {
  for_row_ranges(scores.numel() / block.num_keys, [&](std::size_t first, std::size_t last) {
    body(CausalRows{.first = first,
                    .last = last,
                    .num_queries = static_cast<std::size_t>(block.count),
                    .num_keys = static_cast<std::size_t>(block.num_keys),
                    .first_query = static_cast<std::size_t>(block.offset),
                    .scale = static_cast<float>(scale)});
  });
}

void scale_and_hide(at::Tensor& scores, QueryBlock block, double scale) {
  scores.mul_(scale);
  if (!block.is_diagonal()) return;
  const auto hidden = at::ones({block.count, block.count}, scores.options()).triu(1).to(at::kBool);
  scores.narrow(3, block.offset, block.count).masked_fill_(hidden, -std::numeric_limits<float>::infinity());
}

}  // namespace

at::Tensor softmax_scores(at::Tensor& scores, QueryBlock block, double scale) {
  if (!has_fp32_rows(scores)) {
    scale_and_hide(scores, block, scale);
    auto log_sums = at::logsumexp(scores, {3}, /*keepdim=*/true);
    scores.sub_(log_sums).exp_();
    return log_sums;
  }
  auto log_sums = at::empty({scores.size(0), scores.size(1), block.count, 1}, scores.options());
  for_causal_rows(scores, block, scale, [&](const CausalRows& rows) {
    softmax_rows(scores.mutable_data_ptr<float>(), log_sums.mutable_data_ptr<float>(), rows);
  });
  return log_sums;
}

void probabilities_of(at::Tensor& scores, const at::Tensor& log_sums, QueryBlock block, double scale) {
  if (!has_fp32_rows(scores)) {
    scale_and_hide(scores, block, scale);
    scores.sub_(log_sums).exp_();
    return;
  }
  const auto sums = log_sums.contiguous();
  for_causal_rows(scores, block, scale,
                  [&](const CausalRows& rows) { probability_rows(scores.mutable_data_ptr<float>(), sums.const_data_ptr<float>(), rows); });
}

void score_grads_of(at::Tensor& grads, const at::Tensor& probs, const at::Tensor& row_sums, QueryBlock block, double scale) {
  if (!has_fp32_rows(grads) || !has_fp32_rows(probs)) {
    grads.sub_(row_sums).mul_(probs).mul_(scale);
    return;
  }
  const auto sums = row_sums.contiguous();
  for_causal_rows(grads, block, scale, [&](const CausalRows& rows) {
    score_grad_rows(grads.mutable_data_ptr<float>(), probs.const_data_ptr<float>(), sums.const_data_ptr<float>(), rows);
  });
}

}  // namespace rematch::nn

// The MoE router: fp32 logits, top-k experts per token, their probabilities. No token is dropped. Shapes: T tokens, E experts, K chosen.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace rematch::nn {

enum class ScoreFunction { kSigmoid, kSoftmax };

struct RouterShape {
  std::int64_t num_experts = 0;
  std::int64_t topk = 0;
  ScoreFunction score_function = ScoreFunction::kSigmoid;
  double scaling_factor = 1.0;
};

struct Routing {
  at::Tensor probs_TK;    // fp32, differentiable
  at::Tensor experts_TK;  // int64, descending score
};

// x_TH bf16, weight_EH bf16. sigmoid: scores of the chosen, divided by their sum, scaled. softmax: over the chosen logits, scaled.
// Saves x, the weight, the chosen scores and experts.
Routing route(const at::Tensor& x_TH, const at::Tensor& weight_EH, const RouterShape& shape);

}  // namespace rematch::nn

// The MoE router: fp32 scores, top-k experts per token, their probabilities, and the load-balancing loss. No token is dropped.
// Follows Megatron Core's moe_utils.py (topk_routing_with_score_function, switch_load_balancing_loss_func).
// Shapes: T tokens, E experts, K chosen, S sequence length, B sequences.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "runtime/nn/router_tracker.h"
#include "runtime/nn/sequence.h"

namespace rematch::nn {

enum class ScoreFunction { kSigmoid, kSoftmax };

// Megatron's moe_router_* options.
struct RouterShape {
  std::int64_t num_experts = 0;
  std::int64_t topk = 0;
  ScoreFunction score_function = ScoreFunction::kSigmoid;
  bool pre_softmax = false;  // softmax over all experts before the choice, else over the chosen; sigmoid has no such choice
  double scaling_factor = 1.0;
  // Choice i of the micro-batch goes to expert i mod E whatever its scores. Megatron draws random logits, which are even on average only.
  bool force_load_balancing = false;
  LoadBalancing load_balancing = LoadBalancing::kNone;
  double aux_loss_coeff = 0;
};

struct Routing {
  at::Tensor probs_TE;    // fp32, zero where not chosen; differentiable
  at::Tensor experts_TK;  // int64; descending score
};

// What a forward meets beside its weights. The tracker outlives the graph.
struct RouterCall {
  SequenceShape sequence;  // of the rows here
  RouterTracker& tracker;
  double loss_scale = 1;         // of the load-balancing loss in the backward: 1 / micro-batches of a step
  std::int64_t first_token = 0;  // of the rows here among all of the micro-batch, for forced turns
};

// x_TH and weight_EH bf16.
// sigmoid: scores of the chosen divided by their sum (K > 1), scaled. softmax: see pre_softmax; scaled.
// Load-balancing loss: coeff E / (K T G) sum_e (sum_t n_te) tokens_e, n the softmax, or the sigmoid over its sum, of all experts; T tokens
// of the micro-batch on all ranks that share it, and G those that tokens_e counts (RouterTracker); for kSeqAuxLoss the same by sequence
// (T = G = S), mean over B. Its gradient joins that of the probabilities; it is counted in the first forward of a micro-batch, and a replay
// takes what was counted then. Saves x, the weight, scores and probabilities fp32 [T, E], the routing map bool [T, E]; with a loss also n
// fp32 [T, E], held as Megatron holds it, and token counts fp32.
Routing route(const at::Tensor& x_TH, const at::Tensor& weight_EH, const RouterShape& shape, const RouterCall& call);

}  // namespace rematch::nn

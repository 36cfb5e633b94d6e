// An MoE layer: router, dispatch, routed experts, combine, and shared experts beside them.
// Regions: `moe` (all of it), inside it `moe_act` (experts.h) and `shared_experts`; the latter not where shared experts overlap, as in
// Megatron Core, which runs them inside the dispatcher then.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/nn/experts.h"
#include "runtime/nn/mlp.h"
#include "runtime/nn/module_context.h"
#include "runtime/nn/router.h"
#include "runtime/nn/sequence.h"

namespace rematch::nn {

struct MoeShape {
  std::int64_t hidden_size = 0;
  std::int64_t ffn_hidden_size = 0;         // of one expert
  std::int64_t shared_ffn_hidden_size = 0;  // total width; 0: no shared experts
  Activation activation = Activation::kSwiglu;
  bool shared_expert_gate = false;     // the shared experts' output times sigmoid(x w)
  bool shared_expert_overlap = false;  // moe_shared_expert_overlap
  bool grouped_gemm = true;
  RouterShape router;                      // num_experts of the whole job; a multiple of the expert-parallel size
  double input_jitter_epsilon = 0;         // moe_input_jitter_eps; 0: none
  std::optional<double> bias_update_rate;  // unset: no expert bias
  std::vector<double> assumed_shares;      // TokenExchange's
};

class MoeLayer {
 public:
  // `loss_scale`: 1 / micro-batches of a step. Throws base::BadTrial where the layout does not divide the experts.
  MoeLayer(const std::string& name, const MoeShape& shape, const ModuleContext& context, double loss_scale);
  // x_TH: the norm's output
  at::Tensor forward(const at::Tensor& x_TH, SequenceShape sequence);

  // Rows that this rank's experts computed on in the last forward.
  std::int64_t tokens_received() const { return tokens_received_; }
  RouterTracker& tracker() { return tracker_; }

 private:
  at::Tensor mixture(const at::Tensor& x_TH, SequenceShape sequence);
  at::Tensor shared_experts(const at::Tensor& x_TH) const;
  at::Tensor routed_experts(const at::Tensor& x_TH, SequenceShape sequence);

  MoeShape shape_;
  const mesh::Mesh& mesh_;
  double loss_scale_;
  RouterTracker tracker_;
  Parameter* router_weight_;
  RoutedExperts experts_;
  std::optional<Mlp> shared_experts_;
  Parameter* shared_gate_ = nullptr;
  recompute::Region moe_region_;
  std::optional<recompute::Region> shared_region_;
  std::int64_t tokens_received_ = 0;
};

}  // namespace rematch::nn

// An MoE layer: router, dispatch, grouped experts, combine, and shared experts beside them.
// Regions: `moe` (all of it), inside it `moe_act` (between grouped FC1 and FC2) and `shared_experts`.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/mesh/mesh.h"
#include "runtime/nn/mlp.h"
#include "runtime/nn/parameter.h"
#include "runtime/nn/router.h"
#include "runtime/recompute/policy.h"

namespace rematch::nn {

struct MoeShape {
  std::int64_t hidden_size = 0;
  std::int64_t ffn_hidden_size = 0;         // of one expert
  std::int64_t shared_ffn_hidden_size = 0;  // total width; 0: no shared experts
  Activation activation = Activation::kSwiglu;
  RouterShape router;  // num_experts of the whole job; a multiple of the expert-parallel size
};

class MoeLayer {
 public:
  MoeLayer(const std::string& name, const MoeShape& shape, const mesh::Mesh& mesh, ParameterStore& store, recompute::Policy& policy);
  // x_TH: the norm's output
  at::Tensor forward(const at::Tensor& x_TH);
  // Rows that this rank's experts received in the last forward.
  std::int64_t tokens_received() const { return tokens_received_; }

 private:
  at::Tensor mixture(const at::Tensor& x_TH);
  at::Tensor routed_experts(const at::Tensor& x_TH);

  MoeShape shape_;
  const mesh::Mesh& mesh_;
  Parameter* router_weight_;
  std::vector<Parameter*> fc1_;
  std::vector<Parameter*> fc2_;
  std::optional<Mlp> shared_experts_;
  recompute::Region moe_region_;
  recompute::Region activation_region_;
  std::optional<recompute::Region> shared_region_;
  std::int64_t tokens_received_ = 0;
};

}  // namespace rematch::nn

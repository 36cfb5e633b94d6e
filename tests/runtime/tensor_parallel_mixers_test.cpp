// Each mixer on two real Gloo ranks, one a thread, against itself on one: outputs and the gradients of input and parameters, in fp64, so
// that sums in another order show as 1e-16 and a wrong share or a lost addend as itself.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "runtime/nn/gated_delta_net.h"
#include "runtime/nn/gqa.h"
#include "runtime/nn/mamba.h"
#include "runtime/nn/mla.h"
#include "runtime/nn/mlp.h"
#include "tests/runtime/rank_threads.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kHidden = 12, kLength = 10, kBatch = 2;
constexpr std::int64_t kSeed = 11;
constexpr int kRanks = 2;

struct ParameterGrad {
  ParameterDeclaration declaration;
  at::Tensor grad;
};

struct Outcome {
  at::Tensor y_TH, dx_TH;
  std::map<std::string, ParameterGrad> parameters;
};

at::Tensor stream(std::int64_t seed) {
  at::manual_seed(static_cast<std::uint64_t>(seed));
  return at::randn({kLength * kBatch, kHidden}, at::kDouble);
}

at::Tensor rows_of(const at::Tensor& x_TH, const TensorParallel& tp) {
  return tp.shards_rows() ? x_TH.chunk(kRanks)[static_cast<std::size_t>(tp.group().rank())].contiguous() : x_TH;
}

// The same parameters, input and output gradient under every layout.
template <typename Module, typename Shape>
Outcome run(const Shape& shape, const mesh::Mesh& mesh, const at::Tensor& x_TH, const at::Tensor& dy_TH) {
  ParameterStore store;
  recompute::Policy policy(
      {.recompute_granularity = "selective", .recompute_modules = std::vector<std::string>{}, .core_revision = "24bad8e6"}, at::kCPU);
  Module module("mixer", shape, ModuleContext{mesh, store, policy});
  for (auto& parameter : store.all()) {
    parameter.tensor = at::empty(parameter.declaration.shape, at::kDouble);
    initialise(parameter, kSeed, 0.4);
    parameter.tensor.requires_grad_();
  }
  const TensorParallel tp(mesh);
  const auto x = rows_of(x_TH, tp).clone().requires_grad_();
  at::Tensor y;
  if constexpr (requires { module.forward(x, SequenceShape{}); })
    y = module.forward(x, SequenceShape{.length = kLength, .batch = kBatch});
  else
    y = module.forward(x);
  torch::autograd::backward({y}, {rows_of(dy_TH, tp)});
  Outcome outcome{y.detach(), x.grad(), {}};
  for (const auto& parameter : store.all())
    outcome.parameters[parameter.declaration.name] = {parameter.declaration, parameter.tensor.grad()};
  return outcome;
}

void expect_parameters_agree(const std::array<Outcome, kRanks>& ranks, const Outcome& alone) {
  ASSERT_EQ(ranks[0].parameters.size(), alone.parameters.size());
  for (const auto& [name, whole] : alone.parameters) {
    const auto of_rank = [&, &key = name](std::size_t rank) { return ranks[rank].parameters.at(key); };
    if (of_rank(0).declaration.tensor_grad == TensorGrad::kPart) {
      expect_close(of_rank(0).grad + of_rank(1).grad, whole.grad, kFp64Tolerance, name);
      continue;
    }
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const auto& split = of_rank(rank).declaration.split;
      expect_close(of_rank(rank).grad, split ? part_of(whole.grad, *split) : whole.grad, kFp64Tolerance, name);
    }
  }
}

template <typename Module, typename Shape>
void expect_two_ranks_agree_with_one(const Shape& shape) {
  const auto x_TH = stream(1), dy_TH = stream(2);
  const auto alone = run<Module>(shape, alone_mesh(), x_TH, dy_TH);
  for (const bool sequence_parallel : {false, true}) {
    std::array<Outcome, kRanks> ranks;
    run_ranks({.world_size = kRanks, .tensor_model_parallel_size = kRanks, .sequence_parallel = sequence_parallel},
              [&](const mesh::Mesh& mesh) { ranks[static_cast<std::size_t>(mesh.rank())] = run<Module>(shape, mesh, x_TH, dy_TH); });
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      const auto rows = [&](const at::Tensor& whole) { return sequence_parallel ? whole.chunk(kRanks)[rank] : whole; };
      expect_close(ranks[rank].y_TH, rows(alone.y_TH), kFp64Tolerance, "output");
      expect_close(ranks[rank].dx_TH, rows(alone.dx_TH), kFp64Tolerance, "gradient of the input");
    }
    expect_parameters_agree(ranks, alone);
  }
}

TEST(TensorParallelMixers, GroupedQueryAttentionWithNormsAndGate) {
  expect_two_ranks_agree_with_one<GroupedQueryAttention>(GqaShape{.hidden_size = kHidden,
                                                                  .num_attention_heads = 4,
                                                                  .num_query_groups = 2,
                                                                  .kv_channels = 6,
                                                                  .qk_layernorm = true,
                                                                  .attention_output_gate = true});
}

MlaShape mla_shape() {
  return {.hidden_size = kHidden, .num_attention_heads = 4, .kv_lora_rank = 5, .qk_head_dim = 3, .qk_pos_emb_head_dim = 2, .v_head_dim = 4};
}

TEST(TensorParallelMixers, MultiLatentAttention) { expect_two_ranks_agree_with_one<MultiLatentAttention>(mla_shape()); }

TEST(TensorParallelMixers, MultiLatentAttentionWithAQueryLatent) {
  auto shape = mla_shape();
  shape.q_lora_rank = 7;
  expect_two_ranks_agree_with_one<MultiLatentAttention>(shape);
}

TEST(TensorParallelMixers, MultiLatentAttentionWithoutNorms) {
  auto shape = mla_shape();
  shape.qk_layernorm = false;
  expect_two_ranks_agree_with_one<MultiLatentAttention>(shape);
}

TEST(TensorParallelMixers, Mamba2) {
  expect_two_ranks_agree_with_one<Mamba2Mixer>(Mamba2Shape{
      .hidden_size = kHidden, .mamba_num_heads = 4, .mamba_head_dim = 3, .mamba_state_dim = 5, .mamba_num_groups = 2, .chunk_size = 4});
}

TEST(TensorParallelMixers, GatedDeltaNet) {
  expect_two_ranks_agree_with_one<GatedDeltaNet>(GatedDeltaNetShape{.hidden_size = kHidden,
                                                                    .linear_num_key_heads = 2,
                                                                    .linear_key_head_dim = 5,
                                                                    .linear_num_value_heads = 4,
                                                                    .linear_value_head_dim = 3});
}

TEST(TensorParallelMixers, DenseMlp) {
  for (const auto activation : {Activation::kSwiglu, Activation::kSquaredRelu})
    expect_two_ranks_agree_with_one<DenseMlp>(
        DenseMlpShape{.mlp = {.hidden_size = kHidden, .ffn_hidden_size = 10, .activation = activation}});
}

}  // namespace
}  // namespace rematch::nn

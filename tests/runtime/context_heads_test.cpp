// The gated delta net under context parallelism over real Gloo ranks, in fp64 against one rank with the whole sequence: outputs, gradients,
// and what gdn_norm_out replays.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/nn/gated_delta_net.h"
#include "runtime/recompute/policy.h"
#include "tests/runtime/context_ranks.h"
#include "tests/runtime/mixer_twin.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kLength = 96, kBatch = 2;
// Two value heads use each key head.
constexpr GatedDeltaNetShape kContextShape{.hidden_size = 10,
                                           .linear_num_key_heads = 4,
                                           .linear_key_head_dim = 6,
                                           .linear_num_value_heads = 8,
                                           .linear_value_head_dim = 5,
                                           .gamma = Gamma::kZeroCentered,
                                           .layernorm_epsilon = 0.01};

// A gated delta net on one rank, its inputs and output gradient cut to that rank's tokens. Results: output, gradients of x and parameters.
Tensors run_net(const mesh::Mesh& mesh, std::vector<std::string> labels, const Tensors& whole_inputs, const at::Tensor& whole_output_grad) {
  const ContextPlace place{mesh.context().rank(), mesh.context().size()};
  recompute::Policy policy({.recompute_granularity = "selective", .recompute_modules = std::move(labels), .core_revision = "24bad8e6"},
                           at::kCPU);
  ParameterStore store;
  GatedDeltaNet net("self_attention", kContextShape, {mesh, store, policy});
  Tensors leaves;
  for (const auto& input : whole_inputs) leaves.push_back(input.detach().clone());
  leaves[0] = local_tokens(leaves[0], 0, place, kBatch);
  for (auto& leaf : leaves) leaf.requires_grad_();
  twin::place(store, leaves);
  Tensors results = {net.forward(leaves[0], {.length = kLength / place.size, .batch = kBatch, .place = place})};
  torch::autograd::backward(results, {local_tokens(whole_output_grad, 0, place, kBatch)});
  for (const auto& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

class ContextHeadsNet : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    at::manual_seed(7);
    recompute::Policy policy(
        {.recompute_granularity = "selective", .recompute_modules = std::vector<std::string>{}, .core_revision = "24bad8e6"}, at::kCPU);
    ParameterStore store;
    const GatedDeltaNet net("self_attention", kContextShape, {alone_mesh(), store, policy});
    inputs_ = twin::random_inputs(twin::random({kLength * kBatch, kContextShape.hidden_size}), store);
    output_grad_ = twin::random({kLength * kBatch, kContextShape.hidden_size});
  }

  std::vector<Tensors> on_ranks(const std::vector<std::string>& labels) const {
    std::vector<Tensors> all(static_cast<std::size_t>(GetParam()));
    on_context_ranks(GetParam(), "p2p", [&](const mesh::Mesh& mesh) {
      all[static_cast<std::size_t>(mesh.rank())] = run_net(mesh, labels, inputs_, output_grad_);
    });
    return all;
  }

  Tensors inputs_;
  at::Tensor output_grad_;
};

TEST_P(ContextHeadsNet, GivesTheOutputsAndGradientsOfOneRank) {
  const auto wanted = run_net(alone_mesh(), {}, inputs_, output_grad_);
  const auto ranks = on_ranks({});
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::vector<at::Tensor> parts;
    for (const auto& results : ranks) parts.push_back(results.at(i));
    const bool is_by_token = i < 2;  // the others are parameters', each rank's part of a sum
    const auto found = is_by_token ? whole_sequence(parts, 0, kBatch) : at::stack(parts).sum(0);
    expect_close(found, wanted[i], kFp64Tolerance, "result " + std::to_string(i));
  }
}

TEST_P(ContextHeadsNet, NormOutGivesTheControlsGradientsToTheBit) {
  const auto control = on_ranks({}), recomputed = on_ranks({"gdn_norm_out"});
  for (std::size_t rank = 0; rank < control.size(); ++rank)
    for (std::size_t i = 0; i < control[rank].size(); ++i)
      EXPECT_TRUE(at::equal(control[rank][i], recomputed[rank][i])) << "rank " << rank << " result " << i;
}

INSTANTIATE_TEST_SUITE_P(Ranks, ContextHeadsNet, testing::Values(2, 4));

TEST(ContextHeadsShare, OfAParameterIsItsPartOfEverySectionAndItsGradientIsZeroElsewhere) {
  on_context_ranks(2, "p2p", [](const mesh::Mesh& mesh) {
    const ContextHeads heads(mesh.context());
    const auto parameter = at::arange(6, at::kDouble).requires_grad_();
    const auto share = heads.share_of(parameter, {4, 2});
    const bool is_first = mesh.rank() == 0;
    EXPECT_TRUE(at::equal(share.detach(), is_first ? at::tensor({0., 1., 4.}, at::kDouble) : at::tensor({2., 3., 5.}, at::kDouble)));
    torch::autograd::backward({share}, {at::ones_like(share)});
    EXPECT_TRUE(at::equal(parameter.grad(), is_first ? at::tensor({1., 1., 0., 0., 1., 0.}, at::kDouble)
                                                     : at::tensor({0., 0., 1., 1., 0., 1.}, at::kDouble)));
  });
}

}  // namespace
}  // namespace rematch::nn

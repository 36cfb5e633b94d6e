// Dispatch and combine over real Gloo ranks, expert and expert-tensor parallel, against what every token's own experts give by themselves.
// Integers in fp64: no sum is rounded, so all compares are exact.
#include "runtime/nn/dispatch.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <memory>
#include <mutex>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "runtime/comm/backends.h"
#include "tests/runtime/rank_threads.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kExperts = 8, kChosen = 2, kTokens = 7, kWidth = 3;

// Of one rank; every rank has other values and another number of tokens. Expert 1 gets most, expert 5 none.
struct Inputs {
  explicit Inputs(int rank) {
    const std::int64_t num_tokens = kTokens + rank;
    const auto ids = at::arange(num_tokens, at::kLong);
    const auto second = at::tensor({0, 2, 3, 4, 6, 7}, at::kLong).index_select(0, (ids * (rank + 2) + rank).remainder(6));
    experts_TK = at::stack({at::ones_like(ids), second}, 1);
    x_TH = (ids.unsqueeze(1) * kWidth + at::arange(kWidth)).to(at::kDouble) + 100 * rank;
    probs_TE = at::zeros({num_tokens, kExperts}, at::kDouble).scatter(1, experts_TK, (experts_TK + 1 + rank).to(at::kDouble));
    grad_TH = (x_TH.remainder(5) - 2);
  }
  at::Tensor experts_TK, x_TH, probs_TE, grad_TH;
};

// Expert e: y = (e + 1) p x, in parts that sum to it.
at::Tensor naive(const Inputs& inputs, const at::Tensor& x_TH, const at::Tensor& probs_TE) {
  const auto weights_T = (probs_TE * at::arange(1, kExperts + 1)).gather(1, inputs.experts_TK).sum(1, true);
  return x_TH * weights_T;
}

// Part `rank` of `size` of what the local experts make of the rows: sums over the parts are e + 1.
at::Tensor expert_weights_R(const TokenExchange& exchange, const mesh::Mesh& mesh) {
  const auto num_local = static_cast<std::int64_t>(exchange.rows_per_local_expert().size());
  const auto whole = at::arange(1, num_local + 1, at::kDouble) + static_cast<double>(mesh.expert().rank() * num_local);
  const auto rank = mesh.expert_tensor().rank(), size = mesh.expert_tensor().size();
  const auto part = rank == 0 ? whole - 10.0 * (size - 1) : at::full_like(whole, 10.0);
  return part.repeat_interleave(at::tensor(exchange.rows_per_local_expert(), at::kLong));
}

struct Result {
  at::Tensor output_TH, dx_TH, dprobs_TE;
};

Result run(const Inputs& inputs, const mesh::Mesh& mesh) {
  const auto exchange =
      std::make_shared<const TokenExchange>(inputs.experts_TK, kExperts, ExpertGroups{mesh.expert(), mesh.expert_tensor()});
  const auto x_TH = inputs.x_TH.clone().requires_grad_(), probs_TE = inputs.probs_TE.clone().requires_grad_();
  const auto sent = dispatch(exchange, x_TH, probs_TE);
  EXPECT_EQ(sent.tokens_RH.size(0), exchange->num_received());
  const auto y_RH = sent.tokens_RH * (sent.probs_R * expert_weights_R(*exchange, mesh)).unsqueeze(1);
  const auto output_TH = combine(exchange, y_RH);
  torch::autograd::backward({output_TH}, {inputs.grad_TH});
  return {output_TH.detach(), x_TH.grad(), probs_TE.grad()};
}

Result naive_result(const Inputs& inputs) {
  const auto x_TH = inputs.x_TH.clone().requires_grad_(), probs_TE = inputs.probs_TE.clone().requires_grad_();
  const auto output_TH = naive(inputs, x_TH, probs_TE);
  torch::autograd::backward({output_TH}, {inputs.grad_TH});
  return {output_TH.detach(), x_TH.grad(), probs_TE.grad()};
}

void expect_naive(const protocol::ParallelSpec& spec) {
  run_ranks(spec, [](const mesh::Mesh& mesh) {
    const Inputs inputs(mesh.rank());
    const auto ours = run(inputs, mesh), wanted = naive_result(inputs);
    EXPECT_TRUE(at::equal(ours.output_TH, wanted.output_TH));
    EXPECT_TRUE(at::equal(ours.dx_TH, wanted.dx_TH));
    EXPECT_TRUE(at::equal(ours.dprobs_TE, wanted.dprobs_TE));
  });
}

TEST(TokenExchange, SendsRowsToTheRanksOfTheirExpertsAndBack) { expect_naive({.world_size = 2, .expert_model_parallel_size = 2}); }

TEST(TokenExchange, SumsThePartsOfAnExpertOverTheRanksThatShareIt) { expect_naive({.world_size = 2, .expert_tensor_parallel_size = 2}); }

TEST(TokenExchange, DoesBothAtOnce) { expect_naive({.world_size = 4, .expert_model_parallel_size = 2, .expert_tensor_parallel_size = 2}); }

TEST(TokenExchange, RanksThatShareAnExpertComputeOnTheSameRows) {
  std::mutex mutex;
  std::vector<std::vector<std::int64_t>> rows(4);
  run_ranks({.world_size = 4, .expert_model_parallel_size = 2, .expert_tensor_parallel_size = 2}, [&](const mesh::Mesh& mesh) {
    const TokenExchange exchange(Inputs(mesh.rank()).experts_TK, kExperts, {mesh.expert(), mesh.expert_tensor()});
    const std::lock_guard lock(mutex);
    rows[static_cast<std::size_t>(mesh.rank())] = exchange.rows_per_local_expert();
  });
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_EQ(rows[2], rows[3]);
  std::vector<std::int64_t> wanted(kExperts, 0);
  for (int rank = 0; rank < 4; ++rank) {
    const auto counts = at::bincount(Inputs(rank).experts_TK.view({-1}), {}, kExperts);
    for (std::int64_t e = 0; e < kExperts; ++e) wanted[static_cast<std::size_t>(e)] += counts[e].item<std::int64_t>();
  }
  auto found = rows[0];
  found.insert(found.end(), rows[2].begin(), rows[2].end());
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(wanted[5], 0);
}

}  // namespace
}  // namespace rematch::nn

// The load-balancing losses where ranks share the tokens of a sequence: summed over tensor-parallel and averaged over context- and
// data-parallel ranks, the gradients are those of one rank that has all of them.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <mutex>

#include "runtime/nn/router.h"
#include "tests/runtime/rank_threads.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kExperts = 8, kChosen = 3, kLength = 8, kBatch = 2, kHidden = 16;
constexpr double kCoefficient = 0.7;

struct Balanced {
  double loss = 0;  // less its coefficient
  at::Tensor weight_grad_EH;
};

// All loss is that of balancing: probabilities get no gradient.
Balanced balance(const at::Tensor& x_TH, const at::Tensor& weight_EH, LoadBalancing type, const mesh::Mesh& mesh) {
  const RouterShape shape{.num_experts = kExperts, .topk = kChosen, .load_balancing = type, .aux_loss_coeff = kCoefficient};
  RouterTracker tracker({.num_experts = kExperts, .topk = kChosen, .load_balancing = type}, mesh);
  const auto weight = weight_EH.clone().requires_grad_();
  const SequenceShape rows{x_TH.size(0) / kBatch, kBatch};
  torch::autograd::backward({route(x_TH, weight, shape, {rows, tracker}).probs_TE.sum() * 0}, {});
  return {*tracker.take_loss(), weight.grad()};
}

// One micro-batch for each data-parallel rank: [D, S * B, H].
at::Tensor tokens(std::int64_t num_replicas) {
  at::manual_seed(7);
  return at::randn({num_replicas, kLength * kBatch, kHidden}, at::kDouble);
}

at::Tensor router_weight() {
  at::manual_seed(8);
  return at::randn({kExperts, kHidden}, at::kDouble);
}

// Mean over the data-parallel ranks of a layout without tensor and context parallelism.
Balanced wanted(LoadBalancing type, std::int64_t num_replicas) {
  const auto all = tokens(num_replicas), weight = router_weight();
  if (type != LoadBalancing::kGlobalAuxLoss || num_replicas == 1) {
    Balanced mean{.loss = 0, .weight_grad_EH = at::zeros_like(weight)};
    for (std::int64_t i = 0; i < num_replicas; ++i) {
      const auto one = balance(all[i], weight, type, alone_mesh());
      mean.loss += one.loss / static_cast<double>(num_replicas);
      mean.weight_grad_EH += one.weight_grad_EH / static_cast<double>(num_replicas);
    }
    return mean;
  }
  // Counts over all replicas: as if they were one micro-batch.
  return balance(all.view({-1, kHidden}), weight, LoadBalancing::kAuxLoss, alone_mesh());
}

void expect_one_ranks_gradients(const protocol::ParallelSpec& spec) {
  const protocol::ParallelDims dims(spec);
  for (const auto type : {LoadBalancing::kAuxLoss, LoadBalancing::kSeqAuxLoss, LoadBalancing::kGlobalAuxLoss}) {
    const auto all = tokens(dims.data_parallel_size()), weight = router_weight();
    const auto one_rank = wanted(type, dims.data_parallel_size());
    std::mutex mutex;
    Balanced found{.loss = 0, .weight_grad_EH = at::zeros_like(weight)};
    run_ranks(spec, [&](const mesh::Mesh& mesh) {
      const auto& sequence_ranks = mesh.group(protocol::Axis::kTensorContext);
      const auto rows = all[mesh.data().rank()].chunk(sequence_ranks.size())[static_cast<std::size_t>(sequence_ranks.rank())];
      const auto mine = balance(rows, weight, type, mesh);
      const std::lock_guard lock(mutex);
      found.loss += mine.loss / mesh.world().size();
      found.weight_grad_EH += mine.weight_grad_EH / mesh.data_context().size();
    });
    EXPECT_NEAR(found.loss, one_rank.loss, 1e-9);
    expect_close(found.weight_grad_EH, one_rank.weight_grad_EH, kFp64Tolerance, "gradient of the router's weight");
  }
}

TEST(RouterLayouts, SequenceParallelRanksBalanceTheirTokensTogether) {
  expect_one_ranks_gradients({.world_size = 2, .tensor_model_parallel_size = 2, .sequence_parallel = true});
}

TEST(RouterLayouts, ContextParallelRanksBalanceTheirTokensTogether) {
  expect_one_ranks_gradients({.world_size = 2, .context_parallel_size = 2});
}

TEST(RouterLayouts, SoDoTensorAndContextParallelRanksOfTwoReplicas) {
  expect_one_ranks_gradients({.world_size = 8, .tensor_model_parallel_size = 2, .context_parallel_size = 2, .sequence_parallel = true});
}

TEST(RouterLayouts, ForcedTurnsGoOnFromRankToRankOfASequence) {
  constexpr std::int64_t kOddLength = 10;  // two ranks of 10 tokens, 30 choices each: no multiple of 8 experts
  std::mutex mutex;
  at::Tensor counts = at::zeros({kExperts}, at::kLong);
  run_ranks({.world_size = 2, .tensor_model_parallel_size = 2, .sequence_parallel = true}, [&](const mesh::Mesh& mesh) {
    RouterTracker tracker({.num_experts = kExperts, .topk = kChosen}, mesh);
    const RouterShape shape{.num_experts = kExperts, .topk = kChosen, .force_load_balancing = true};
    const SequenceShape rows{kOddLength / 2, kBatch};
    const auto x_TH = at::ones({rows.num_tokens(), kHidden}, at::kDouble);
    const RouterCall call{.sequence = rows, .tracker = tracker, .first_token = mesh.rank() * rows.num_tokens()};
    const auto experts = route(x_TH, router_weight(), shape, call).experts_TK;
    const std::lock_guard lock(mutex);
    counts += at::bincount(experts.view({-1}), {}, kExperts);
  });
  EXPECT_EQ(counts.min().item<std::int64_t>(), 7);  // 60 choices of 8 experts
  EXPECT_EQ(counts.max().item<std::int64_t>(), 8);
}

}  // namespace
}  // namespace rematch::nn

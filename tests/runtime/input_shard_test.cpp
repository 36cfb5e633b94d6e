// distribute_saved_activations over two real Gloo ranks, one a thread: the same gradients, and half of the input kept on each.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "runtime/base/saved_tensors.h"
#include "runtime/comm/backends.h"
#include "runtime/nn/input_shard.h"
#include "tests/runtime/rank_threads.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kRows = 6, kColumns = 8;

struct Outcome {
  at::Tensor output;
  at::Tensor grad;
  std::int64_t kept_elements = 0;
  std::int64_t replays = 0;
};

// sum(exp(2 x)) of one rank, through a checkpoint that keeps its input sharded over `group`, or whole without one.
Outcome run_checkpoint(const comm::Communicator* group) {
  const auto shard = group ? shard_over(*group) : recompute::InputShard{};
  random::RandomStreams streams(at::kCPU);
  Outcome outcome;
  const recompute::Region region({.label = "full",
                                  .mode = recompute::Mode::kCheckpoint,
                                  .replays = &outcome.replays,
                                  .streams = &streams,
                                  .input_shard = group ? &shard : nullptr});
  const auto leaf = at::linspace(-1, 1, kRows * kColumns).view({kRows, kColumns}).requires_grad_();
  {
    const base::SavedTensorLog log;
    // Not the leaf itself, which is alive in any case.
    outcome.output = region.run([](const recompute::Tensors& in) { return recompute::Tensors{(in[0] * 2).exp()}; }, {leaf + 0}).tensors[0];
    for (const auto& tensor : log.held()) outcome.kept_elements += tensor.bytes / 4;
  }
  torch::autograd::backward({outcome.output.sum()}, {});
  outcome.grad = leaf.grad();
  return outcome;
}

TEST(InputShard, KeepsHalfOfTheInputOnEachOfTwoRanksAndGivesTheSameGradients) {
  std::array<Outcome, 2> outcomes;
  run_ranks({.world_size = 2, .tensor_model_parallel_size = 2},
            [&](const mesh::Mesh& mesh) { outcomes[static_cast<std::size_t>(mesh.rank())] = run_checkpoint(&mesh.tensor()); });
  const auto whole = run_checkpoint(nullptr);
  EXPECT_EQ(whole.kept_elements, kRows * kColumns);
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.kept_elements, kRows * kColumns / 2);
    EXPECT_EQ(outcome.replays, 1);
    EXPECT_TRUE(at::equal(outcome.output, whole.output));
    EXPECT_TRUE(at::equal(outcome.grad, whole.grad));
  }
}

TEST(InputShard, RefusesATensorThatDoesNotDivide) {
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const comm::Communicator group("tp", comm::make_backend("fake", store, {.name = "tp0", .rank = 0, .size = 2}), at::kCPU);
  EXPECT_THROW(shard_over(group).keep(at::zeros({3})), std::invalid_argument);
}

}  // namespace
}  // namespace rematch::nn

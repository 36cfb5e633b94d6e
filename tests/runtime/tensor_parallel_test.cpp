// Tensor-parallel operations over two real Gloo ranks, one a thread, against the plain operations on the whole tensors.
#include "runtime/nn/tensor_parallel.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <functional>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "runtime/base/errors.h"
#include "runtime/base/saved_tensors.h"
#include "runtime/comm/backends.h"
#include "runtime/comm/comm_log.h"
#include "runtime/nn/cross_entropy.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/linear.h"
#include "tests/runtime/rank_threads.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr int kRanks = 2;

using OnRank = std::function<Tensors(const TensorParallel&)>;

// What each of two ranks returns.
std::array<Tensors, kRanks> on_two_ranks(Rows rows, const OnRank& body) {
  std::array<Tensors, kRanks> results;
  run_ranks({.world_size = kRanks, .tensor_model_parallel_size = kRanks, .sequence_parallel = rows == Rows::kSharded},
            [&](const mesh::Mesh& mesh) { results[static_cast<std::size_t>(mesh.rank())] = body(TensorParallel(mesh)); });
  return results;
}

at::Tensor leaf(const at::Tensor& values) { return values.clone().requires_grad_(); }

at::Tensor part(const at::Tensor& whole, std::int64_t dim, std::int64_t rank) {
  return whole.chunk(kRanks, dim)[static_cast<std::size_t>(rank)];
}

// A rank's rows of a residual stream, or all of it.
at::Tensor rows_of(const at::Tensor& whole, const TensorParallel& tp) {
  return tp.shards_rows() ? part(whole, 0, tp.group().rank()) : whole;
}

void backward(const at::Tensor& output, const at::Tensor& grad) { torch::autograd::backward({output}, {grad}); }

// Two linear layers with something between, as in an MLP: the values and gradients of one rank by itself, or of one of two.
struct TwoLayers {
  at::Tensor x_TI, first_FI, second_IF, dy_TI;

  explicit TwoLayers(at::ScalarType type) {
    at::manual_seed(7);
    x_TI = random({8, 6}).to(type), first_FI = random({10, 6}).to(type), second_IF = random({6, 10}).to(type),
    dy_TI = random({8, 6}).to(type);
  }
  Tensors alone() const {
    const auto x = leaf(x_TI), first = leaf(first_FI), second = leaf(second_IF);
    const auto y = linear_layer(linear_layer(x, first).square(), second);
    backward(y, dy_TI);
    return {y.detach(), x.grad(), first.grad(), second.grad()};
  }
  Tensors on_rank(const TensorParallel& tp) const {
    const auto rank = tp.group().rank();
    const auto x = leaf(rows_of(x_TI, tp)), first = leaf(part(first_FI, 0, rank)), second = leaf(part(second_IF, 1, rank));
    const auto y = row_parallel_linear(column_parallel_linear(x, first, tp).square(), second, tp);
    backward(y, rows_of(dy_TI, tp));
    return {y.detach(), x.grad(), first.grad(), second.grad()};
  }
};

void expect_two_layers_agree(at::ScalarType type, double tolerance) {
  const TwoLayers layers(type);
  const auto whole = TwoLayers(at::kDouble).alone();
  for (const auto rows : {Rows::kWhole, Rows::kSharded}) {
    const auto ranks = on_two_ranks(rows, [&](const TensorParallel& tp) { return layers.on_rank(tp); });
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      const auto& ours = ranks[static_cast<std::size_t>(rank)];
      const auto stream = [&](const at::Tensor& tensor) { return rows == Rows::kSharded ? part(tensor, 0, rank) : tensor; };
      expect_close(ours[0], stream(whole[0]), tolerance, "output");
      expect_close(ours[1], stream(whole[1]), tolerance, "gradient of the input");
      expect_close(ours[2], part(whole[2], 0, rank), tolerance, "gradient of the column-parallel weight");
      expect_close(ours[3], part(whole[3], 1, rank), tolerance, "gradient of the row-parallel weight");
    }
  }
}

TEST(TensorParallelLinear, AgreesWithThePlainLayersInFp64) { expect_two_layers_agree(at::kDouble, kFp64Tolerance); }
TEST(TensorParallelLinear, AgreesWithThePlainLayersInBf16) { expect_two_layers_agree(at::kBFloat16, kBf16Tolerance); }

TEST(TensorParallelLinear, KeepsOnlyItsOwnRowsWhereRowsAreSharded) {
  const auto kept = on_two_ranks(Rows::kSharded, [](const TensorParallel& tp) {
    const auto x = leaf(at::ones({4, 6}, at::kBFloat16)) + 0, weight = leaf(at::ones({5, 6}, at::kBFloat16));
    const base::SavedTensorLog log;
    const auto y = column_parallel_linear(x, weight, tp);
    std::int64_t bytes = 0;
    for (const auto& tensor : log.held()) bytes += tensor.name == "linear.x" ? tensor.bytes : 0;
    EXPECT_EQ(y.sizes(), (std::vector<std::int64_t>{8, 5}));
    return Tensors{at::scalar_tensor(bytes, at::kLong)};
  });
  for (const auto& rank : kept) EXPECT_EQ(rank[0].item<std::int64_t>(), 4 * 6 * 2);
}

TEST(TensorParallelLinear, AloneIsThePlainLayer) {
  const TensorParallel alone(alone_mesh());
  const auto x = random({4, 6}), weight = random({5, 6});
  EXPECT_TRUE(at::equal(column_parallel_linear(x, weight, alone), linear_layer(x, weight)));
  EXPECT_TRUE(at::equal(row_parallel_linear(x, weight, alone), linear_layer(x, weight)));
}

TEST(ForOwnHeads, SumsTheGradientsOfBothRanksForTheRowsOfEach) {
  const auto x_TD = at::arange(24, at::kDouble).view({8, 3});
  for (const auto rows : {Rows::kWhole, Rows::kSharded}) {
    const auto ranks = on_two_ranks(rows, [&](const TensorParallel& tp) {
      const auto x = leaf(rows_of(x_TD, tp));
      const auto all = for_own_heads(x, tp);
      backward(all, x_TD * (1 + tp.group().rank()));  // as of other heads on each rank
      return Tensors{all.detach(), x.grad()};
    });
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      const auto& ours = ranks[static_cast<std::size_t>(rank)];
      EXPECT_TRUE(at::equal(ours[0], x_TD));
      EXPECT_TRUE(at::equal(ours[1], rows == Rows::kSharded ? part(x_TD * 3, 0, rank) : x_TD * 3));
    }
  }
}

TEST(VocabParallelEmbedding, EqualsThePlainOneToTheBit) {
  at::manual_seed(3);
  const auto table = random({10, 6}), dx = random({8, 6});
  const auto ids = at::tensor({0, 9, 4, 5, 4, 9, 9, 1}, at::kLong);  // both halves, and some more than once
  const auto whole = leaf(table);
  const auto x = embed(ids, whole);
  backward(x, dx);
  for (const auto rows : {Rows::kWhole, Rows::kSharded}) {
    const auto ranks = on_two_ranks(rows, [&](const TensorParallel& tp) {
      const auto own = leaf(part(table, 0, tp.group().rank()));
      const auto y = vocab_parallel_embed(ids, own, tp);
      EXPECT_TRUE(at::equal(y, rows_of(x, tp)));
      backward(y, rows_of(dx, tp));
      return Tensors{own.grad()};
    });
    for (std::int64_t rank = 0; rank < kRanks; ++rank)
      EXPECT_TRUE(at::equal(ranks[static_cast<std::size_t>(rank)][0], part(whole.grad(), 0, rank)));
  }
}

// fp32 sums in another order, and exponentials of another maximum; gradients of bf16 logits are rounded to bf16.
void expect_losses_agree(at::ScalarType type, double grad_tolerance) {
  at::manual_seed(5);
  // Large logits: without the common maximum the exponentials would overflow.
  const auto logits = (at::randn({6, 12}, at::kFloat) * 100).to(type);
  const auto labels = at::tensor({0, 11, 5, 6, 3, 8}, at::kLong);
  const auto whole = leaf(logits);
  const auto loss = cross_entropy(whole, labels);
  backward(loss, at::ones({}));
  const auto ranks = on_two_ranks(Rows::kSharded, [&](const TensorParallel& tp) {
    const auto own = leaf(part(logits, 1, tp.group().rank()).contiguous());
    const auto y = vocab_parallel_cross_entropy(own, labels, tp);
    backward(y, at::ones({}));
    return Tensors{y.detach(), own.grad()};
  });
  EXPECT_TRUE(at::equal(ranks[0][0], ranks[1][0]));
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    const auto& ours = ranks[static_cast<std::size_t>(rank)];
    expect_close(ours[0], loss.detach().to(at::kDouble), 1e-6, "loss");
    expect_close(ours[1], part(whole.grad(), 1, rank).to(at::kDouble), grad_tolerance, "gradient of the logits");
  }
}

TEST(VocabParallelCrossEntropy, AgreesWithThePlainOneInBf16) { expect_losses_agree(at::kBFloat16, kBf16Tolerance); }
TEST(VocabParallelCrossEntropy, AgreesWithThePlainOneInFp32) { expect_losses_agree(at::kFloat, 1e-5); }

TEST(VocabParallelCrossEntropy, SendsThreeNumbersAToken) {
  comm::CommLog log;
  const comm::Communicator group("tp", comm::make_backend("fake", {}, {.name = "tp0", .rank = 0, .size = 2}), at::kMeta, {.log = &log});
  const auto meta = at::TensorOptions(at::kMeta);
  vocab_parallel_cross_entropy(at::empty({6, 4}, meta.dtype(at::kBFloat16)), at::empty({6}, meta.dtype(at::kLong)),
                               TensorParallel(group, Rows::kSharded));
  const auto counts = log.take();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].num_calls, 1);
  EXPECT_EQ(counts[0].bytes, 2 * 6 * 3 * 4);
}

TEST(SplitParameter, TakesItsShareOfEverySectionOfTheValuesThatOneRankHas) {
  const ParameterDeclaration declaration{.name = "fc1", .shape = {8, 2}};
  Parameter whole{declaration, at::empty({8, 2}, at::kFloat), {}};
  initialise(whole, 42, 0.02);
  for (int rank = 0; rank < kRanks; ++rank) {
    Parameter rows{split_parameter(declaration, {.dim = 0, .sections = {4, 4}, .rank = rank, .count = kRanks}), {}, {}};
    ASSERT_EQ(rows.declaration.shape, (std::vector<std::int64_t>{4, 2}));
    rows.tensor = at::empty({4, 2}, at::kFloat);
    initialise(rows, 42, 0.02);
    EXPECT_TRUE(at::equal(rows.tensor, at::cat({whole.tensor.narrow(0, 2 * rank, 2), whole.tensor.narrow(0, 4 + 2 * rank, 2)})));
    Parameter columns{
        split_parameter(declaration, {.dim = 1, .sections = {}, .rank = rank, .count = kRanks}), at::empty({8, 1}, at::kFloat), {}};
    initialise(columns, 42, 0.02);
    EXPECT_TRUE(at::equal(columns.tensor, whole.tensor.narrow(1, rank, 1)));
  }
}

TEST(SplitParameter, RefusesASectionThatDoesNotDivide) {
  EXPECT_THROW(split_parameter({.name = "fc1", .shape = {6, 2}}, {.dim = 0, .sections = {3, 3}, .rank = 0, .count = 2}), base::BadTrial);
}

}  // namespace
}  // namespace rematch::nn

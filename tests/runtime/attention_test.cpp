// Both attention backends: the maths with and without groups and dropout, what they keep, and which random stream they draw from.
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "runtime/base/saved_tensors.h"
#include "runtime/nn/core_attention.h"
#include "runtime/random/generators.h"
#include "tests/runtime/naive_attention.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 6, kLength = 200;  // more than one block of queries, and a short last one
constexpr std::int64_t kKeySize = 12, kValueSize = 8;
constexpr double kScale = 0.3, kP = 0.2;

struct Case {
  AttentionBackend backend;
  std::int64_t num_groups;
};

std::string name_of(const Case& one) {
  return (one.backend == AttentionBackend::kFused ? "Fused" : "Unfused") + std::to_string(one.num_groups) + "Groups";
}
void PrintTo(const Case& one, std::ostream* out) { *out << name_of(one); }

class EveryAttention : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { at::manual_seed(7); }

  CoreAttention settings(double dropout) const { return {.backend = GetParam().backend, .scale = kScale, .attention_dropout = dropout}; }

  Tensors inputs() const {
    const auto groups = GetParam().num_groups;
    return {random({kBatch, kHeads, kLength, kKeySize}), random({kBatch, groups, kLength, kKeySize}),
            random({kBatch, groups, kLength, kValueSize})};
  }

  // What the first attention in fp64 after at::manual_seed(5) multiplies its probabilities with. `unfused` draws one mask. `fused` draws by
  // blocks, whatever the values: with the identity as v its output is the dropped probabilities themselves.
  at::Tensor drawn_keep_factors() const {
    at::manual_seed(5);
    at::Tensor kept;
    if (GetParam().backend == AttentionBackend::kUnfused) {
      kept = at::empty({kBatch, kHeads, kLength, kLength}, at::kBool).bernoulli_(1 - kP);
    } else {
      const auto wide = at::TensorOptions(at::kDouble);
      const auto groups = GetParam().num_groups;
      const auto identity = at::eye(kLength, wide).expand({kBatch, groups, kLength, kLength}).contiguous();
      const auto o = core_attention(at::zeros({kBatch, kHeads, kLength, 1}, wide), at::zeros({kBatch, groups, kLength, 1}, wide), identity,
                                    settings(kP));
      kept = o.view({kLength, kBatch, kHeads, kLength}).permute({1, 2, 0, 3}) != 0;
    }
    return kept.to(at::kDouble) / (1 - kP);
  }
};

TEST_P(EveryAttention, EqualsThePlainOne) {
  const auto ours = [&](const Tensors& in) { return Tensors{core_attention(in[0], in[1], in[2], settings(0))}; };
  const auto twin = [](const Tensors& in) { return Tensors{naive_attention(in[0], in[1], in[2], kScale)}; };
  expect_twins(ours, twin, inputs());
  expect_twins_in_fp64(ours, twin, inputs());
}

TEST_P(EveryAttention, UnderDropoutUsesTheDrawnMaskInBothDirections) {
  const auto factors = drawn_keep_factors();
  const auto seen = at::ones({kLength, kLength}, at::kBool).tril();
  const auto share_dropped = (factors == 0).masked_select(seen).to(at::kDouble).mean().item<double>();
  EXPECT_NEAR(share_dropped, kP, 0.004);  // 241,200 draws: 5 standard deviations
  const auto ours = [&](const Tensors& in) {
    at::manual_seed(5);
    return Tensors{core_attention(in[0], in[1], in[2], settings(kP))};
  };
  const auto twin = [&](const Tensors& in) { return Tensors{naive_attention(in[0], in[1], in[2], kScale, factors)}; };
  expect_twins_in_fp64(ours, twin, inputs());
}

TEST_P(EveryAttention, DrawsFromTheModelParallelStreamOnlyAndNotInBackward) {
  random::RandomStreams streams(at::kCPU);
  random::seed_streams(streams, {.seed = 4});
  auto drawing = settings(kP);
  drawing.streams = &streams;
  const auto stream_before = streams.states().at(random::kModelParallelStream);
  const auto default_before = random::read_generator(at::kCPU);
  const auto in = inputs();
  const auto q = in[0].clone().requires_grad_();
  const auto state = random::read_generator(at::kCPU);
  const auto o = core_attention(q, in[1], in[2], drawing);
  const auto stream_after = streams.states().at(random::kModelParallelStream);
  EXPECT_FALSE(at::equal(stream_before, stream_after));
  torch::autograd::backward({o.sum()}, {});
  EXPECT_TRUE(at::equal(streams.states().at(random::kModelParallelStream), stream_after));
  EXPECT_TRUE(at::equal(random::read_generator(at::kCPU), state));
  EXPECT_FALSE(at::equal(state, default_before));  // the inputs were drawn from it
}

TEST_P(EveryAttention, KeepsItsFormulaToTheByte) {
  for (const double dropout : {0.0, kP}) {
    Tensors in;
    for (const auto& input : inputs()) in.push_back(input.requires_grad_() + 0);  // a graph's tensors, not parameters
    const base::SavedTensorLog log;
    const auto o = core_attention(in[0], in[1], in[2], settings(dropout));
    std::int64_t held = 0;
    for (const auto& saved : log.held()) held += saved.bytes;
    const auto rows = kBatch * kHeads * kLength;
    const auto groups = GetParam().num_groups;
    const auto fused = 2 * rows * (kKeySize + kValueSize) + 2 * kBatch * groups * kLength * (kKeySize + kValueSize) + 4 * rows;
    const auto unfused = (dropout > 0 ? 7 : 6) * rows * kLength + 2 * rows * (2 * kKeySize + kValueSize);
    EXPECT_EQ(held, GetParam().backend == AttentionBackend::kFused ? fused : unfused) << "dropout " << dropout;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, EveryAttention,
                         testing::Values(Case{AttentionBackend::kFused, kHeads}, Case{AttentionBackend::kFused, 2},
                                         Case{AttentionBackend::kUnfused, kHeads}, Case{AttentionBackend::kUnfused, 2}),
                         [](const testing::TestParamInfo<Case>& one) { return name_of(one.param); });

}  // namespace
}  // namespace rematch::nn

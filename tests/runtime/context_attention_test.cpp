// Fused attention under context parallelism over real Gloo ranks: the maths against plain attention over the whole sequence, what it keeps,
// and what it sends, on the meta device too.
#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <string>
#include <utility>

#include "runtime/base/saved_tensors.h"
#include "runtime/nn/fused_attention.h"
#include "runtime/nn/rotary.h"
#include "tests/runtime/context_ranks.h"
#include "tests/runtime/naive_attention.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 6, kKeySize = 12, kValueSize = 8;
constexpr double kScale = 0.3;

struct Case {
  int num_ranks;
  const char* comm_type;
  std::int64_t num_groups;
  std::int64_t chunk;  // tokens
};

std::string name_of(const Case& one) {
  return std::to_string(one.num_ranks) + "Ranks_" + one.comm_type + "_" + std::to_string(one.num_groups) + "Groups" +
         std::to_string(one.chunk);
}
void PrintTo(const Case& one, std::ostream* out) { *out << name_of(one); }

// Calls and bytes by operation.
using Counts = std::map<protocol::CommOperation, std::pair<std::int64_t, std::int64_t>>;

Counts counts_of(const mesh::Mesh& mesh) {
  Counts counts;
  for (const auto& count : mesh.comm_log().take()) {
    EXPECT_EQ(count.axis, "cp");
    counts[count.operation] = {count.num_calls, count.bytes};
  }
  return counts;
}

struct Outcome {
  Tensors results;  // output, then the gradients of q, k and v
  std::int64_t held = 0;
  Counts forward, backward;
};

Outcome attend_locally(const mesh::Mesh& mesh, const Tensors& inputs, const at::Tensor& output_grad) {
  Outcome outcome;
  Tensors leaves, in;
  for (const auto& input : inputs) leaves.push_back(input.detach().clone().requires_grad_());
  for (const auto& leaf : leaves) in.push_back(leaf + 0);  // as in a model, not leaves
  mesh.comm_log().take();
  {
    const base::SavedTensorLog log;
    outcome.results = {fused_causal_attention(in[0], in[1], in[2], kScale, 0, context_group(mesh))};
    for (const auto& saved : log.held()) outcome.held += saved.bytes;
  }
  outcome.forward = counts_of(mesh);
  torch::autograd::backward(outcome.results, {output_grad});
  outcome.backward = counts_of(mesh);
  for (const auto& leaf : leaves) outcome.results.push_back(leaf.grad());
  return outcome;
}

class ContextAttention : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { at::manual_seed(7); }

  std::int64_t length() const { return 2 * GetParam().num_ranks * GetParam().chunk; }
  std::int64_t num_local() const { return 2 * GetParam().chunk; }

  Tensors inputs() const {
    const auto groups = GetParam().num_groups;
    return {random({kBatch, kHeads, length(), kKeySize}), random({kBatch, groups, length(), kKeySize}),
            random({kBatch, groups, length(), kValueSize})};
  }

  // Each rank's outcome.
  std::vector<Outcome> on_ranks(const Tensors& whole, const at::Tensor& output_grad_TD) const {
    std::vector<Outcome> outcomes(static_cast<std::size_t>(GetParam().num_ranks));
    on_context_ranks(GetParam().num_ranks, GetParam().comm_type, [&](const mesh::Mesh& mesh) {
      const ContextPlace place{mesh.context().rank(), mesh.context().size()};
      Tensors local;
      for (const auto& input : whole) local.push_back(local_tokens(input, 2, place));
      outcomes[static_cast<std::size_t>(mesh.rank())] = attend_locally(mesh, local, local_tokens(output_grad_TD, 0, place, kBatch));
    });
    return outcomes;
  }

  void expect_plain_attention(at::ScalarType type, double tolerance) const {
    const auto bf16 = inputs();
    const auto output_grad = random({length() * kBatch, kHeads * kValueSize});
    Tensors typed, doubles;
    for (const auto& input : bf16) {
      typed.push_back(input.to(type));
      doubles.push_back(input.to(at::kDouble));
    }
    const auto plain = [](const Tensors& in) { return Tensors{naive_attention(in[0], in[1], in[2], kScale)}; };
    const auto wanted = evaluate(plain, doubles, {output_grad}, at::kDouble);
    const auto outcomes = on_ranks(typed, output_grad.to(type));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      std::vector<at::Tensor> parts;
      for (const auto& outcome : outcomes) parts.push_back(outcome.results.at(i));
      expect_close(i == 0 ? whole_sequence(parts, 0, kBatch) : whole_sequence(parts, 2), wanted[i], tolerance,
                   "result " + std::to_string(i));
    }
  }
};

TEST_P(ContextAttention, EqualsPlainAttentionOverTheWholeSequenceInFp64) { expect_plain_attention(at::kDouble, kFp64Tolerance); }

// Sums are in fp32 and rounded once, so no more than without context parallelism.
TEST_P(ContextAttention, InBf16IsAsNearToPlainAttentionAsWithoutContextParallelism) {
  expect_plain_attention(at::kBFloat16, kBf16Tolerance);
}

TEST_P(ContextAttention, KeepsLocalTensorsOnlyAndSendsItsFormulaOnTheMetaDeviceToo) {
  const auto whole = inputs();
  const auto outcomes = on_ranks(whole, random({length() * kBatch, kHeads * kValueSize}));
  const std::int64_t size = GetParam().num_ranks, rows = kBatch * GetParam().num_groups * num_local(), widths = kKeySize + kValueSize;
  Counts forward, backward;
  using protocol::CommOperation;
  if (std::string(GetParam().comm_type) == "p2p") {
    forward[CommOperation::kSend] = forward[CommOperation::kReceive] = {2 * (size - 1), (size - 1) * 2 * rows * widths};
    backward[CommOperation::kSend] =
        backward[CommOperation::kReceive] = {2 * (size - 1) + 2 * size, (size - 1) * 2 * rows * widths + size * 4 * rows * widths};
  } else {
    forward[CommOperation::kAllGather] = backward[CommOperation::kAllGather] = {2, size * 2 * rows * widths};
    backward[CommOperation::kReduceScatter] = {2, size * 4 * rows * widths};
  }
  const auto query_rows = kBatch * kHeads * num_local();
  for (const auto& outcome : outcomes) {
    EXPECT_EQ(outcome.held, 2 * query_rows * widths + 2 * rows * widths + 4 * query_rows);
    EXPECT_EQ(outcome.forward, forward);
    EXPECT_EQ(outcome.backward, backward);
  }
  const auto store = c10::make_intrusive<c10d::HashStore>();
  const protocol::ParallelSpec spec{
      .world_size = GetParam().num_ranks, .context_parallel_size = GetParam().num_ranks, .cp_comm_type = GetParam().comm_type};
  const mesh::Mesh fake(spec, {.backend = "fake", .rank = 1, .device = at::kMeta}, store);
  Tensors local;
  for (const auto& input : whole) local.push_back(local_tokens(input, 2, {1, GetParam().num_ranks}).to(at::kMeta));
  const auto on_meta = attend_locally(fake, local, at::empty({num_local() * kBatch, kHeads * kValueSize}, local[0].options()));
  EXPECT_EQ(on_meta.held, outcomes[1].held);
  EXPECT_EQ(on_meta.forward, forward);
  EXPECT_EQ(on_meta.backward, backward);
}

INSTANTIATE_TEST_SUITE_P(Layouts, ContextAttention,
                         testing::Values(Case{2, "p2p", kHeads, 20}, Case{2, "p2p", 2, 150}, Case{2, "all_gather", 2, 150},
                                         Case{4, "p2p", 2, 20}, Case{4, "all_gather", kHeads, 20}, Case{4, "all_gather", 2, 20}),
                         [](const testing::TestParamInfo<Case>& one) { return name_of(one.param); });

// Of the rank at `place`: the probabilities that dropout let through, [query, key], as forward and as backward have them. With the identity
// as v they are the output; with its rows as the output's gradient they are the gradient of v.
std::pair<at::Tensor, at::Tensor> used_probabilities(ContextPlace place, const std::vector<std::vector<int>>& members_by_visit) {
  constexpr std::int64_t kLength = 16;
  const auto num_local = kLength / place.size;
  const auto wide = at::TensorOptions(at::kDouble);
  const auto identity = at::eye(kLength, wide).view({1, 1, kLength, kLength});
  const auto q = at::zeros({1, 1, num_local, 4}, wide);
  std::vector<KeyShare> visits;
  for (const auto& members : members_by_visit) {
    std::vector<at::Tensor> values;
    for (const int member : members) values.push_back(local_tokens(identity, 2, {member, place.size}));
    visits.push_back(
        {at::zeros({static_cast<std::int64_t>(members.size()), 1, 1, num_local, 4}, wide), at::stack(values), members, visits.empty()});
  }
  const TileMaths maths{.scale = kScale, .dropout = 0.4, .place = place};
  const PartialOutput sums{at::empty({1, 1, num_local, kLength}, wide), at::empty({1, 1, num_local, 1}, wide)};
  at::manual_seed(5);
  for (const auto& keys : visits) attend(q, keys, maths, sums);
  at::manual_seed(5);
  std::vector<at::Tensor> value_grads(static_cast<std::size_t>(place.size));
  for (const auto& keys : visits) {
    const AttentionGrads grads{at::empty_like(q), at::zeros_like(keys.k_MBGLE), at::zeros_like(keys.v_MBGLV)};
    attend_backward(q, keys, {local_tokens(identity, 2, place), sums.o_BNLV, sums.lse_BNL1}, maths, grads);
    for (std::size_t i = 0; i < keys.members.size(); ++i)
      value_grads[static_cast<std::size_t>(keys.members[i])] = grads.dv_MBGLV[static_cast<std::int64_t>(i)][0][0];
  }
  return {sums.o_BNLV[0][0], local_tokens(whole_sequence(value_grads, 0).t(), 0, place)};
}

TEST(ContextAttentionDropout, DropsTheSameProbabilitiesForwardAndBackward) {
  for (int rank = 0; rank < 2; ++rank)
    for (const auto& visits : {std::vector<std::vector<int>>{{rank}, {1 - rank}}, std::vector<std::vector<int>>{{0, 1}}}) {
      const auto [forward, backward] = used_probabilities({rank, 2}, visits);
      const auto seen = (backward != 0).sum().item<std::int64_t>();
      EXPECT_GT(seen, 0);
      EXPECT_LT(seen, 8 * 17 / 2) << "nothing was dropped";  // 8 queries see 8.5 keys each
      EXPECT_LE((forward - backward).abs().max().item<double>(), kFp64Tolerance);
    }
}

TEST(ContextRotary, TurnsLocalTokensByTheirPositionsInTheWholeSequence) {
  const auto x = at::randn({16, 2, 3, 8}, at::kDouble);
  const auto whole = rotate(x, 100, Turn::kForward, {});
  for (int rank = 0; rank < 4; ++rank) {
    const ContextPlace place{rank, 4};
    EXPECT_TRUE(at::equal(rotate(local_tokens(x, 0, place), 100, Turn::kForward, place), local_tokens(whole, 0, place)));
  }
}

}  // namespace
}  // namespace rematch::nn

// The two recompute mechanisms on small functions: what is dropped, when it comes back, and what does not move.
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "runtime/base/errors.h"
#include "runtime/recompute/policy.h"
#include "runtime/recompute/region.h"

namespace rematch::recompute {
namespace {

Tensors doubled_exp(const Tensors& in) { return {(in[0] * 2).exp()}; }
Tensors with_dropout(const Tensors& in) { return {at::dropout(in[0] * 3, 0.5, /*train=*/true)}; }

Region region_of(Mode mode, std::int64_t* replays) {
  static random::RandomStreams streams(at::kCPU);
  return Region({.label = "unit", .mode = mode, .replays = replays, .streams = &streams});
}

at::Tensor leaf() { return at::linspace(-1, 1, 16).requires_grad_(); }

struct Outcome {
  at::Tensor loss;
  at::Tensor grad;
};

// loss = sum(sin(fn(x)) * fn(x)): the consumer saves the region's output.
Outcome consume(Mode mode, const RegionFn& fn, std::int64_t* replays) {
  at::manual_seed(11);
  const auto x = leaf();
  at::Tensor loss;
  {
    auto output = region_of(mode, replays).run(fn, {x});
    const auto consumed = output.tensors[0].sin() * output.tensors[0];
    output.discard_after(consumed);
    loss = consumed.sum();
  }
  torch::autograd::backward({loss}, {});
  return {loss.detach(), x.grad()};
}

class EveryMode : public testing::TestWithParam<Mode> {};

TEST_P(EveryMode, GivesTheLossAndGradientOfNoRegionToTheBit) {
  std::int64_t replays = 0;
  for (const RegionFn& fn : {RegionFn(doubled_exp), RegionFn(with_dropout)}) {
    const auto plain = consume(Mode::kInactive, fn, &replays);
    const auto before = replays;
    const auto wrapped = consume(GetParam(), fn, &replays);
    EXPECT_EQ(replays - before, 1);
    EXPECT_TRUE(at::equal(plain.loss, wrapped.loss));
    EXPECT_TRUE(at::equal(plain.grad, wrapped.grad));
  }
}

TEST_P(EveryMode, LeavesTheRandomStreamWhereItWas) {
  std::int64_t replays = 0;
  consume(Mode::kInactive, with_dropout, &replays);
  const auto expected = at::rand({4});
  consume(GetParam(), with_dropout, &replays);
  EXPECT_TRUE(at::equal(at::rand({4}), expected));
}

TEST_P(EveryMode, IsPlainWithoutGradients) {
  std::int64_t replays = 0;
  const at::NoGradGuard no_grad;
  auto output = region_of(GetParam(), &replays).run(doubled_exp, {leaf()});
  output.discard_after(output.tensors[0]);
  EXPECT_GT(output.tensors[0].storage().nbytes(), 0U);
  EXPECT_EQ(replays, 0);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, EveryMode, testing::Values(Mode::kCheckpoint, Mode::kDiscardOutput));

TEST(DiscardOutput, DropsTheBytesAndAViewTakenBeforeSeesTheReplay) {
  std::int64_t replays = 0;
  auto output = region_of(Mode::kDiscardOutput, &replays).run(doubled_exp, {leaf()});
  const auto expected = output.tensors[0].detach().clone();
  const auto view = output.tensors[0].detach().narrow(0, 4, 8);
  const auto version = output.tensors[0]._version();
  const auto consumed = output.tensors[0].square();
  at::Tensor seen;
  output.discard_after(consumed);
  EXPECT_EQ(view.storage().nbytes(), 0U);
  consumed.register_hook([&](const at::Tensor&) { seen = view.clone(); });  // runs after the region's own hook
  torch::autograd::backward({consumed.sum()}, {});
  EXPECT_TRUE(at::equal(seen, expected.narrow(0, 4, 8)));
  EXPECT_EQ(output.tensors[0]._version(), version);
}

TEST(DiscardOutput, ReplaysOnceForSeveralOutputs) {
  std::int64_t replays = 0;
  const auto x = leaf(), y = leaf();
  const RegionFn both = [](const Tensors& in) { return Tensors{in[0] * in[1], in[0] + in[1]}; };
  auto output = region_of(Mode::kDiscardOutput, &replays).run(both, {x, y});
  const auto consumed = output.tensors[0].sin() * output.tensors[1].cos();
  output.discard_after(consumed);
  torch::autograd::backward({consumed.sum()}, {});
  EXPECT_EQ(replays, 1);
  const auto u = leaf(), w = leaf();
  torch::autograd::backward({((u * w).sin() * (u + w).cos()).sum()}, {});
  EXPECT_TRUE(at::equal(x.grad(), u.grad()));
  EXPECT_TRUE(at::equal(y.grad(), w.grad()));
}

TEST(DiscardOutput, ReplaysInsideAnOuterCheckpoint) {
  std::int64_t outer_replays = 0, inner_replays = 0;
  const Region inner = region_of(Mode::kDiscardOutput, &inner_replays);
  const RegionFn outer_fn = [&](const Tensors& in) {
    auto output = inner.run(doubled_exp, in);
    const auto consumed = output.tensors[0].square();
    output.discard_after(consumed);
    return Tensors{consumed};
  };
  const auto x = leaf();
  torch::autograd::backward({region_of(Mode::kCheckpoint, &outer_replays).run(outer_fn, {x}).tensors[0].sum()}, {});
  EXPECT_EQ(outer_replays, 1);
  EXPECT_EQ(inner_replays, 1);
  const auto plain = leaf();
  torch::autograd::backward({(plain * 2).exp().square().sum()}, {});
  EXPECT_TRUE(at::equal(x.grad(), plain.grad()));
}

TEST(Policy, ResolvesAnUnsetListAsMegatronDoes) {
  const protocol::RecomputeSpec unset{.recompute_granularity = "selective", .core_revision = "24bad8e6"};
  EXPECT_EQ(*resolve(unset).recompute_modules, std::vector<std::string>{"core_attn"});
}

TEST(Policy, LeavesAnUnsetListUnsetWithoutGranularity) {
  EXPECT_FALSE(resolve({.core_revision = "24bad8e6"}).recompute_modules);
  EXPECT_THROW(resolve({.recompute_granularity = "selective", .recompute_num_layers = 1, .core_revision = "24bad8e6"}), base::BadTrial);
}

TEST(Policy, RefusesAnUnknownLabelNamingTheKnownOnes) {
  const protocol::RecomputeSpec unknown{
      .recompute_granularity = "selective", .recompute_modules = std::vector<std::string>{"attn"}, .core_revision = "24bad8e6"};
  try {
    resolve(unknown);
    FAIL() << "an unknown label was accepted";
  } catch (const base::BadTrial& error) {
    EXPECT_NE(std::string(error.what()).find("core_attn"), std::string::npos);
  }
}

TEST(Policy, CountsEveryUnitAndWrapsOnlyTheSelected) {
  Policy policy(
      {.recompute_granularity = "selective", .recompute_modules = std::vector<std::string>{"moe_act"}, .core_revision = "24bad8e6"},
      at::kCPU);
  policy.region("moe_act");
  policy.region("moe_act");
  policy.region("moe");
  EXPECT_EQ(policy.sites(), (protocol::LabelCounts{{"moe_act", 2}}));
  EXPECT_EQ(policy.sites_available(), (protocol::LabelCounts{{"moe", 1}, {"moe_act", 2}}));
}

}  // namespace
}  // namespace rematch::recompute

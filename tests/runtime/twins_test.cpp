// Every operation with a backward of our own, against a naive twin (twin.h).
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "runtime/comm/backends.h"
#include "runtime/comm/communicator.h"
#include "runtime/nn/activation.h"
#include "runtime/nn/cross_entropy.h"
#include "runtime/nn/dispatch.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/grouped_linear.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/mla_expand.h"
#include "runtime/nn/mlp.h"
#include "runtime/nn/rms_norm.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

at::Tensor naive_swiglu(const at::Tensor& h) {
  const auto halves = h.chunk(2, 1);
  return at::silu(halves[0]) * halves[1];
}

at::Tensor naive_squared_relu(const at::Tensor& h) { return at::relu(h) * at::relu(h); }

class Twins : public testing::Test {
 protected:
  void SetUp() override { at::manual_seed(7); }
};

TEST_F(Twins, LinearLayer) {
  expect_twins([](const Tensors& in) { return Tensors{linear_layer(in[0], in[1])}; },
               [](const Tensors& in) { return Tensors{at::matmul(in[0], in[1].t())}; }, {random({12, 24}), random({8, 24})});
}

TEST_F(Twins, GroupedLinearWithAnExpertWithoutRows) {
  const std::vector<std::int64_t> rows = {5, 0, 7};
  const auto x = random({12, 16});
  const Tensors weights = {random({8, 16}), random({8, 16}), random({8, 16})};
  const auto used = [&](const Tensors& in) { return Tensors{grouped_linear(in[0], {in[1], weights[1], in[2]}, rows)}; };
  const auto twin = [](const Tensors& in) {
    return Tensors{at::cat({at::matmul(in[0].narrow(0, 0, 5), in[1].t()), at::matmul(in[0].narrow(0, 5, 7), in[2].t())})};
  };
  expect_twins(used, twin, {x, weights[0], weights[2]});
}

TEST_F(Twins, RmsNormOverTheFirstColumns) {
  const auto twin = [](const Tensors& in) {
    const auto x = in[0].narrow(1, 0, 16);
    return Tensors{x * at::rsqrt(x.square().mean(1, true) + 1e-5) * in[1]};
  };
  expect_twins([](const Tensors& in) { return Tensors{rms_norm(in[0], in[1], 1e-5)}; }, twin, {random({9, 20}), random({16})});
}

TEST_F(Twins, Activations) {
  for (const auto& [activation, naive] : {std::pair{Activation::kSwiglu, &naive_swiglu}, {Activation::kSquaredRelu, &naive_squared_relu}}) {
    const auto ours = [activation = activation](const Tensors& in) { return Tensors{activate(in[0], activation)}; };
    const auto twin = [naive = naive](const Tensors& in) { return Tensors{naive(in[0])}; };
    expect_twins(ours, twin, {random({11, 16})});
    expect_twins_in_fp64(ours, twin, {random({11, 16})});
  }
}

TEST_F(Twins, ActivationsWeightedByARowsProbability) {
  for (const auto& [activation, naive] : {std::pair{Activation::kSwiglu, &naive_swiglu}, {Activation::kSquaredRelu, &naive_squared_relu}}) {
    const auto ours = [activation = activation](const Tensors& in) { return Tensors{weighted_activate(in[0], in[1], activation)}; };
    const auto twin = [naive = naive](const Tensors& in) { return Tensors{naive(in[0]) * in[1].unsqueeze(1)}; };
    const auto in_fp32 = [&](const Tensors& in) { return ours({in[0], in[1].to(at::kFloat)}); };
    expect_twins(in_fp32, twin, {random({11, 16}), random({11})});
    expect_twins_in_fp64(ours, twin, {random({11, 16}), random({11})});
  }
}

TEST_F(Twins, MlpOfEitherActivationWithItsOwnWidthOfFc1) {
  for (const auto activation : {Activation::kSwiglu, Activation::kSquaredRelu}) {
    ParameterStore store;
    recompute::Policy policy({}, at::kCPU);
    const Mlp mlp("mlp", {.hidden_size = 8, .ffn_hidden_size = 12, .activation = activation}, {alone_mesh(), store, policy});
    const auto width = activation == Activation::kSwiglu ? 24 : 12;
    EXPECT_EQ(store.all()[0].declaration.shape, (std::vector<std::int64_t>{width, 8}));
    const auto ours = [&](const Tensors& in) {
      for (std::size_t i = 0; i < store.all().size(); ++i) store.all()[i].tensor = in[i + 1];
      return Tensors{mlp.forward(in[0])};
    };
    const auto twin = [&](const Tensors& in) {
      const auto h = at::matmul(in[0], in[1].t());
      return Tensors{at::matmul(activation == Activation::kSwiglu ? naive_swiglu(h) : naive_squared_relu(h), in[2].t())};
    };
    expect_twins_in_fp64(ours, twin, {random({5, 8}), random({width, 8}), random({8, 12})});
  }
}

TEST_F(Twins, RmsNormWithAZeroCentredWeight) {
  const auto ours = [](const Tensors& in) { return Tensors{rms_norm(in[0], in[1], 1e-5, Gamma::kZeroCentered)}; };
  const auto twin = [](const Tensors& in) { return Tensors{in[0] * at::rsqrt(in[0].square().mean(1, true) + 1e-5) * (in[1] + 1)}; };
  expect_twins(ours, twin, {random({9, 16}), random({16})});
  expect_twins_in_fp64(ours, twin, {random({9, 16}), random({16})});
}

TEST_F(Twins, MlaExpandRotatesAndSharesTheRotaryKey) {
  const MlaShape shape{.hidden_size = 32,
                       .num_attention_heads = 3,
                       .kv_lora_rank = 10,
                       .qk_head_dim = 6,
                       .qk_pos_emb_head_dim = 4,
                       .v_head_dim = 5,
                       .rotary_base = 100};
  const SequenceShape sequence{7, 2};
  const auto rotated = [&](const at::Tensor& x) {  // [S, B, N, R] as complex pairs (x[i], x[i + R / 2])
    const auto halves = x.chunk(2, 3);
    const auto frequency = at::pow(100.0, at::arange(2, at::kDouble) * -0.5);
    const auto angle = at::outer(at::arange(7, at::kDouble), frequency).view({7, 1, 1, 2});
    const auto turned = at::complex(halves[0], halves[1]) * at::polar(at::ones_like(angle), angle);
    return at::cat({at::real(turned), at::imag(turned)}, 3);
  };
  const auto twin = [&](const Tensors& in) {
    const auto q = in[0].view({7, 2, 3, 10}), kv = in[1].view({7, 2, 3, 11});
    const auto key = rotated(in[2].narrow(1, 10, 4).reshape({7, 2, 1, 4})).expand({7, 2, 3, 4});
    const auto heads_first = [](const at::Tensor& x) { return x.permute({1, 2, 0, 3}); };
    return Tensors{heads_first(at::cat({q.narrow(3, 0, 6), rotated(q.narrow(3, 6, 4))}, 3)),
                   heads_first(at::cat({kv.narrow(3, 0, 6), key}, 3)), heads_first(kv.narrow(3, 6, 5))};
  };
  const auto ours = [&](const Tensors& in) {
    const auto qkv = mla_expand(in[0], in[1], in[2], shape, sequence);
    return Tensors{qkv.q_BNSE, qkv.k_BNSE, qkv.v_BNSV};
  };
  expect_twins(ours, twin, {random({14, 30}), random({14, 33}), random({14, 14})});
}

TEST_F(Twins, DispatchAndCombineWeighEachTokensExperts) {
  const auto experts = at::tensor({2, 0, 1, 2, 2, 1, 0, 1}, at::kLong).view({4, 2});
  const comm::Communicator alone("ep", comm::make_backend("single", {}, {.name = "ep"}), at::kCPU);
  const auto exchange = std::make_shared<const TokenExchange>(experts, 4, ExpertGroups{alone, alone});
  EXPECT_EQ(exchange->rows_per_local_expert(), (std::vector<std::int64_t>{2, 3, 3, 0}));
  const auto ours = [&](const Tensors& in) {
    const auto sent = dispatch(exchange, in[0], in[1].to(at::kFloat));
    return Tensors{combine(exchange, (sent.tokens_RH * sent.probs_R.unsqueeze(1)).to(at::kBFloat16))};
  };
  // Probabilities of all experts come in; those of the chosen count.
  const auto twin = [&](const Tensors& in) { return Tensors{in[0] * in[1].gather(1, experts).sum(1, true)}; };
  expect_twins(ours, twin, {random({4, 6}), random({4, 4})});
}

TEST_F(Twins, EmbeddingAddsUpRepeatedTokens) {
  const auto ids = at::tensor({3, 1, 3, 3, 0}, at::kLong);
  expect_twins([&](const Tensors& in) { return Tensors{embed(ids, in[0])}; },
               [&](const Tensors& in) { return Tensors{in[0].index_select(0, ids)}; }, {random({5, 8})});
}

TEST_F(Twins, CrossEntropy) {
  const auto labels = at::tensor({3, 1, 0, 5, 5}, at::kLong);
  const auto twin = [&](const Tensors& in) { return Tensors{at::log_softmax(in[0], 1).gather(1, labels.unsqueeze(1)).mean().neg()}; };
  expect_twins([&](const Tensors& in) { return Tensors{cross_entropy(in[0], labels)}; }, twin, {random({5, 9})});
}

}  // namespace
}  // namespace rematch::nn

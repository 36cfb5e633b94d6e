// Every operation with a backward of our own, against a naive twin in plain autograd and fp64 on the same bf16 inputs.
// Tolerance: results are rounded to bf16 once or twice (relative 2^-8 each), compared to the largest magnitude of the twin's tensor.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <vector>

#include "runtime/comm/backends.h"
#include "runtime/comm/communicator.h"
#include "runtime/nn/dispatch.h"
#include "runtime/nn/embedding.h"
#include "runtime/nn/fused_attention.h"
#include "runtime/nn/grouped_linear.h"
#include "runtime/nn/linear.h"
#include "runtime/nn/mla_expand.h"
#include "runtime/nn/rms_norm.h"
#include "runtime/nn/router.h"
#include "runtime/nn/swiglu.h"

namespace rematch::nn {
namespace {

using Tensors = std::vector<at::Tensor>;
using Operation = std::function<Tensors(const Tensors&)>;

constexpr double kTolerance = 1.0 / 64;

at::Tensor random(std::initializer_list<std::int64_t> sizes) { return at::randn(at::IntArrayRef(sizes), at::kFloat).to(at::kBFloat16); }

// Outputs, then the gradients of all inputs for fixed output gradients.
Tensors evaluate(const Operation& operation, const Tensors& inputs, const Tensors& output_grads, at::ScalarType type) {
  Tensors leaves;
  for (const auto& input : inputs) leaves.push_back(input.to(type).clone().requires_grad_());
  auto results = operation(leaves);
  Tensors grads;
  for (std::size_t i = 0; i < results.size(); ++i) grads.push_back(output_grads[i].to(results[i].scalar_type()));
  torch::autograd::backward(results, grads);
  for (const auto& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

void expect_close(const at::Tensor& ours, const at::Tensor& twin, const std::string& what) {
  ASSERT_TRUE(ours.defined()) << what;
  ASSERT_EQ(ours.sizes(), twin.sizes()) << what;
  const double scale = twin.abs().max().item<double>();
  EXPECT_GT(scale, 0) << what << " of the twin is all zero: the case shows nothing";
  EXPECT_LE((ours.to(at::kDouble) - twin).abs().max().item<double>(), kTolerance * scale) << what;
}

void expect_twins(const Operation& ours, const Operation& twin, const Tensors& inputs) {
  Tensors output_grads;
  {
    Tensors doubles;
    for (const auto& input : inputs) doubles.push_back(input.to(at::kDouble));
    for (const auto& output : twin(doubles)) output_grads.push_back(at::randn(output.sizes(), at::kFloat).to(at::kBFloat16));
  }
  const auto mine = evaluate(ours, inputs, output_grads, at::kBFloat16);
  const auto theirs = evaluate(twin, inputs, output_grads, at::kDouble);
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i)
    expect_close(mine[i], theirs[i],
                 i < output_grads.size() ? "output " + std::to_string(i) : "gradient of input " + std::to_string(i - output_grads.size()));
}

at::Tensor naive_swiglu(const at::Tensor& h) {
  const auto halves = h.chunk(2, 1);
  return at::silu(halves[0]) * halves[1];
}

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

TEST_F(Twins, Swiglu) {
  expect_twins([](const Tensors& in) { return Tensors{swiglu(in[0])}; }, [](const Tensors& in) { return Tensors{naive_swiglu(in[0])}; },
               {random({11, 16})});
}

TEST_F(Twins, WeightedSwiglu) {
  expect_twins([](const Tensors& in) { return Tensors{weighted_swiglu(in[0], in[1].to(at::kFloat))}; },
               [](const Tensors& in) { return Tensors{naive_swiglu(in[0]) * in[1].unsqueeze(1)}; }, {random({11, 16}), random({11})});
}

TEST_F(Twins, FusedCausalAttentionOverSeveralQueryBlocks) {
  constexpr std::int64_t kLength = 200;  // more than one block, and a short last one
  const double scale = 0.3;
  const auto twin = [scale](const Tensors& in) {
    auto scores = at::matmul(in[0], in[1].transpose(2, 3)) * scale;
    scores = scores.masked_fill(at::ones({kLength, kLength}, at::kBool).triu(1), -INFINITY);
    const auto o = at::matmul(scores.softmax(3), in[2]);
    return Tensors{o.permute({2, 0, 1, 3}).reshape({kLength * 2, -1})};
  };
  expect_twins([scale](const Tensors& in) { return Tensors{fused_causal_attention(in[0], in[1], in[2], scale)}; }, twin,
               {random({2, 3, kLength, 12}), random({2, 3, kLength, 12}), random({2, 3, kLength, 8})});
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

TEST_F(Twins, SigmoidAndSoftmaxRouters) {
  for (const auto function : {ScoreFunction::kSigmoid, ScoreFunction::kSoftmax}) {
    const RouterShape shape{.num_experts = 8, .topk = 3, .score_function = function, .scaling_factor = 2.5};
    const auto twin = [&](const Tensors& in) {
      const auto logits = at::matmul(in[0], in[1].t());
      const bool sigmoid = function == ScoreFunction::kSigmoid;
      const auto chosen = std::get<0>((sigmoid ? logits.sigmoid() : logits).topk(3, 1));
      return Tensors{(sigmoid ? chosen / chosen.sum(1, true) : chosen.softmax(1)) * 2.5};
    };
    expect_twins([&](const Tensors& in) { return Tensors{route(in[0], in[1], shape).probs_TK}; }, twin,
                 {random({10, 16}), random({8, 16})});
  }
}

TEST_F(Twins, DispatchAndCombineWeighEachTokensExperts) {
  const auto experts = at::tensor({2, 0, 1, 2, 2, 1, 0, 1}, at::kLong).view({4, 2});
  const comm::Communicator alone("ep", comm::make_backend("single", {}, {.name = "ep"}), at::kCPU);
  const auto exchange = std::make_shared<const TokenExchange>(experts, 4, alone);
  EXPECT_EQ(exchange->rows_per_local_expert(), (std::vector<std::int64_t>{2, 3, 3, 0}));
  const auto ours = [&](const Tensors& in) {
    const auto sent = dispatch(exchange, in[0], in[1].to(at::kFloat));
    return Tensors{combine(exchange, (sent.tokens_RH * sent.probs_R.unsqueeze(1)).to(at::kBFloat16))};
  };
  expect_twins(ours, [](const Tensors& in) { return Tensors{in[0] * in[1].sum(1, true)}; }, {random({4, 6}), random({4, 2})});
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

// The row kernels: their arithmetic against the standard library's, and the same bits on any number of threads.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "runtime/nn/activation.h"
#include "runtime/nn/cross_entropy.h"
#include "runtime/nn/fused_attention.h"
#include "runtime/nn/rms_norm.h"
#include "runtime/nn/simd.h"

namespace rematch::nn {
namespace {

TEST(Simd, ExpIsWithinTwoUnitsInTheLastPlace) {
  double largest = 0;
  for (double x = -87; x < 88; x += 1.0 / 512) largest = std::max(largest, std::abs(simd::exp_of(static_cast<float>(x)) / std::exp(x) - 1));
  EXPECT_LE(largest, 2 * std::numeric_limits<float>::epsilon());
  EXPECT_EQ(simd::exp_of(0), 1);
}

TEST(Simd, ExpOfHiddenScoresIsZeroAndANanStaysOne) {
  EXPECT_EQ(simd::exp_of(-std::numeric_limits<float>::infinity()), 0);
  EXPECT_EQ(simd::exp_of(-1e30F), 0);
  EXPECT_TRUE(std::isnan(simd::exp_of(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Simd, LoweredRoundsAsTheTensorTypeDoes) {
  for (std::uint32_t high = 0; high < 0x10000; high += 7)
    for (const std::uint32_t low : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const auto value = std::bit_cast<float>(high << 16 | low);
      ASSERT_EQ(simd::lowered(value), c10::BFloat16(value).x) << value;
    }
}

at::Tensor random(std::initializer_list<std::int64_t> sizes) { return at::randn(at::IntArrayRef(sizes)).to(at::kBFloat16); }

using Operation = std::function<at::Tensor(const std::vector<at::Tensor>&)>;

// The result and the gradients of all inputs, computed by so many threads.
std::vector<at::Tensor> computed(const Operation& operation, const std::vector<at::Tensor>& inputs, int num_threads) {
  at::set_num_threads(num_threads);
  std::vector<at::Tensor> leaves;
  for (const auto& input : inputs) leaves.push_back(input.clone().requires_grad_());
  auto result = operation(leaves);
  torch::autograd::backward({result}, {at::ones_like(result)});
  std::vector<at::Tensor> all = {result.detach()};
  for (const auto& leaf : leaves) all.push_back(leaf.grad());
  return all;
}

void expect_same_bits(const Operation& operation, const std::vector<at::Tensor>& inputs) {
  const int num_threads = at::get_num_threads();
  const auto alone = computed(operation, inputs, 1), together = computed(operation, inputs, 3);
  at::set_num_threads(num_threads);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_GT(alone[i].abs().sum().item<float>(), 0);
    EXPECT_TRUE(at::equal(alone[i], together[i])) << "tensor " << i;
  }
}

TEST(RowKernels, NumberOfThreadsDoesNotChangeRmsNorm) {
  expect_same_bits([](const auto& in) { return rms_norm(in[0], in[1], 1e-5); }, {random({333, 72}), random({70})});
}

TEST(RowKernels, NumberOfThreadsDoesNotChangeCrossEntropy) {
  const auto labels_T = at::arange(333, at::kLong).remainder(50);
  expect_same_bits([&](const auto& in) { return cross_entropy(in[0], labels_T); }, {random({333, 50})});
}

TEST(RowKernels, NumberOfThreadsDoesNotChangeFusedAttention) {
  const auto attention = [](const auto& in) { return fused_causal_attention(in[0], in[1], in[2], 0.3, 0); };
  expect_same_bits(attention, {random({1, 4, 300, 12}), random({1, 2, 300, 12}), random({1, 2, 300, 8})});
}

TEST(RowKernels, NumberOfThreadsDoesNotChangeSwiglu) {
  const auto probs_R = at::rand({333});
  expect_same_bits([](const auto& in) { return activate(in[0], Activation::kSwiglu); }, {random({333, 90})});
  expect_same_bits([&](const auto& in) { return weighted_activate(in[0], probs_R, Activation::kSwiglu); }, {random({333, 90})});
}

TEST(RowKernels, SwigluOfExtremeGatesIsFinite) {
  const auto h = at::tensor({-3e38F, -100.0F, 100.0F, 3e38F, 1.0F, 1.0F, 1.0F, 1.0F}).to(at::kBFloat16).view({1, 8});
  const auto a = activate(h, Activation::kSwiglu).to(at::kFloat);
  EXPECT_TRUE(at::equal(a, at::tensor({0.0F, 0.0F, 100.0F, 3e38F}).to(at::kBFloat16).to(at::kFloat).view({1, 4}))) << a;
}

// Scores far apart: a softmax that does not take the largest away first overflows.
TEST(RowKernels, AttentionOverLargeScoresEqualsItsTwin) {
  const auto q = random({1, 2, 150, 8}) * 20, k = random({1, 2, 150, 8}), v = random({1, 2, 150, 8});
  const auto ours = fused_causal_attention(q, k, v, 1.0, 0).to(at::kDouble);
  auto scores = at::matmul(q.to(at::kDouble), k.to(at::kDouble).transpose(2, 3));
  EXPECT_GT(scores.max().item<double>(), 200);
  scores = scores.masked_fill(at::ones({150, 150}, at::kBool).triu(1), -std::numeric_limits<double>::infinity());
  const auto twin = at::matmul(scores.softmax(3), v.to(at::kDouble)).permute({2, 0, 1, 3}).reshape({150, 16});
  EXPECT_LE((ours - twin).abs().max().item<double>(), 1.0 / 64 * twin.abs().max().item<double>());
}

TEST(RowKernels, ALogitThatIsNotFiniteMakesALossThatIsNotFinite) {
  const auto labels_T = at::zeros({4}, at::kLong);
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    auto logits_TV = random({4, 20});
    logits_TV[2][17] = bad;
    EXPECT_FALSE(std::isfinite(cross_entropy(logits_TV, labels_T).item<float>())) << bad;
  }
}

TEST(RowKernels, ATransposedInputIsNormedAsItsCopyIs) {
  const auto x = random({20, 30}), weight = random({20});
  const auto grad = [&](const at::Tensor& input) {
    auto leaf = input.detach().requires_grad_();
    torch::autograd::backward({rms_norm(leaf, weight, 1e-5)}, {at::ones({30, 20}, at::kBFloat16)});
    return leaf.grad().to(at::kFloat);
  };
  EXPECT_TRUE(at::allclose(grad(x.t()), grad(x.t().contiguous()), 1.0 / 64, 1e-3));
}

// Wide enough for whole vectors and a rest, and more rows than one part has.
TEST(RowKernels, RmsNormOfManyWideRowsEqualsItsTwin) {
  const auto x = random({200, 150}), weight = random({140}), dy = random({200, 140});
  const auto run = [&](at::ScalarType type, const Operation& operation) {
    const std::vector<at::Tensor> leaves = {x.to(type).clone().requires_grad_(), weight.to(type).clone().requires_grad_()};
    torch::autograd::backward({operation(leaves)}, {dy.to(type)});
    return std::vector<at::Tensor>{leaves[0].grad().to(at::kDouble), leaves[1].grad().to(at::kDouble)};
  };
  const auto ours = run(at::kBFloat16, [](const auto& in) { return rms_norm(in[0], in[1], 1e-5); });
  const auto twin = run(at::kDouble, [](const auto& in) {
    const auto used = in[0].narrow(1, 0, 140);
    return used * at::rsqrt(used.square().mean(1, true) + 1e-5) * in[1];
  });
  for (std::size_t i = 0; i < ours.size(); ++i)  // one rounding to bf16 each: half of 2^-8
    EXPECT_LE(((ours[i] - twin[i]).abs() / twin[i].abs().clamp_min(1e-2)).max().item<double>(), 1.0 / 256) << i;
}

}  // namespace
}  // namespace rematch::nn

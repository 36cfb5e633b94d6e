// Where gradients of parameters go: through autograd and a hook, or with fusion straight from the product.
#include "runtime/nn/main_grad.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "runtime/nn/embedding.h"
#include "runtime/nn/grouped_linear.h"
#include "runtime/nn/linear.h"

namespace rematch::nn {
namespace {

at::Tensor random(std::initializer_list<std::int64_t> sizes) { return at::randn(at::IntArrayRef(sizes)).to(at::kBFloat16); }

void backward(const at::Tensor& y, const at::Tensor& dy) { torch::autograd::backward({y}, {dy}); }

struct Placed {
  Placed(const at::Tensor& values, at::ScalarType grad_dtype, DummyGrads* dummies) {
    parameter.tensor = values.clone().requires_grad_();
    send_gradients(parameter, at::zeros(values.sizes(), grad_dtype), dummies);
  }
  const at::Tensor& tensor() const { return parameter.tensor; }
  const at::Tensor& main_grad() const { return parameter.main_grad; }
  Parameter parameter;
};

class MainGrad : public testing::Test {
 protected:
  void SetUp() override { at::manual_seed(7); }
  const at::Tensor w_OI = random({4, 6}), x_TI = random({9, 6}), dy_TO = random({9, 4});
  const at::Tensor product_OI = dy_TO.to(at::kDouble).t().mm(x_TI.to(at::kDouble));
  DummyGrads dummies;

  double error(const at::Tensor& found, double times) const {
    return (found.to(at::kDouble) - product_OI * times).abs().max().item<double>() / product_OI.abs().max().item<double>();
  }
};

TEST_F(MainGrad, TakesWhatAutogradDeliversAndLetsItGo) {
  for (const auto grad_dtype : {at::kBFloat16, at::kFloat}) {
    const Placed weight(w_OI, grad_dtype, nullptr);
    const auto leaf = w_OI.clone().requires_grad_();
    backward(linear_layer(x_TI, leaf), dy_TO);
    for (int use = 1; use <= 2; ++use) {
      backward(linear_layer(x_TI, weight.tensor()), dy_TO);
      EXPECT_FALSE(weight.tensor().grad().defined());
      EXPECT_TRUE(at::equal(weight.main_grad(), leaf.grad().to(grad_dtype) * use));  // each product rounded to bf16
    }
  }
}

TEST_F(MainGrad, WithFusionIsAddedInFp32AndRoundedOnceToTheBuffersType) {
  for (const auto grad_dtype : {at::kBFloat16, at::kFloat}) {
    const Placed weight(w_OI, grad_dtype, &dummies);
    for (int use = 1; use <= 3; ++use) backward(linear_layer(x_TI, weight.tensor()), dy_TO);
    EXPECT_FALSE(weight.tensor().grad().defined());
    EXPECT_LT(error(weight.main_grad(), 3), grad_dtype == at::kFloat ? 1e-6 : 0.02);
    EXPECT_GT(error(weight.main_grad().to(at::kBFloat16), 3), 1e-6);  // rounding would show
  }
}

TEST_F(MainGrad, WithFusionServesGroupedLinearAndSkipsIdleExperts) {
  const Placed first(w_OI, at::kFloat, &dummies), idle(w_OI, at::kFloat, &dummies), last(w_OI, at::kFloat, &dummies);
  backward(grouped_linear(x_TI, {first.tensor(), idle.tensor(), last.tensor()}, {5, 0, 4}), dy_TO);
  EXPECT_LT(error(first.main_grad() + last.main_grad(), 1), 1e-6);
  EXPECT_EQ(idle.main_grad().abs().max().item<float>(), 0);
}

TEST_F(MainGrad, OneDummyServesAllWeightsOfAShape) {
  const auto one = dummies.dummy_of(w_OI), same_shape = dummies.dummy_of(random({4, 6})), other_shape = dummies.dummy_of(random({6, 4}));
  EXPECT_TRUE(one.is_alias_of(same_shape));
  EXPECT_FALSE(one.is_alias_of(other_shape));
  EXPECT_TRUE(dummies.is_dummy(same_shape));
  EXPECT_FALSE(dummies.is_dummy(random({4, 6})));
  EXPECT_EQ(one.use_count(), 1u);  // autograd takes it over only then
}

TEST_F(MainGrad, WithFusionATiedEmbeddingAddsItsShareThroughAutograd) {
  const auto ids_T = at::tensor({0, 3, 3, 1, 0, 2, 2, 2, 1}, at::kLong);
  const auto run = [&](DummyGrads* with) {
    const Placed table(w_OI, at::kFloat, with);
    backward(linear_layer(embed(ids_T, table.tensor()), table.tensor()), dy_TO);
    return table.main_grad();
  };
  const auto fused = run(&dummies), plain = run(nullptr);
  EXPECT_LT((fused - plain).abs().max().item<double>(), 0.02 * plain.abs().max().item<double>());  // plain rounds each share to bf16
  EXPECT_EQ(dummies.dummy_of(w_OI).abs().max().item<float>(), 0);
}

}  // namespace
}  // namespace rematch::nn

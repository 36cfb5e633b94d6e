// Dropout: what it computes for the mask it drew, what it keeps, and when it draws.
#include "runtime/nn/dropout.h"

#include <gtest/gtest.h>

#include "runtime/base/saved_tensors.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr double kP = 0.3;

// The mask that dropout of this shape draws first after at::manual_seed(3).
at::Tensor drawn_keep_factors(at::IntArrayRef sizes) {
  at::manual_seed(3);
  return at::empty(sizes, at::kBool).bernoulli_(1 - kP).to(at::kDouble) / (1 - kP);
}

TEST(Dropout, DropsTheDrawnElementsAndScalesTheRest) {
  const auto ours = [](const Tensors& in) {
    at::manual_seed(3);
    return Tensors{dropout_layer(in[0], kP), dropout_add(in[0], in[1], kP)};
  };
  const auto first = drawn_keep_factors({40, 30});
  const auto second = at::empty({40, 30}, at::kBool).bernoulli_(1 - kP).to(at::kDouble) / (1 - kP);
  EXPECT_FALSE(at::equal(first, second));
  EXPECT_NEAR((first == 0).to(at::kDouble).mean().item<double>(), kP, 0.05);  // 1200 draws: 3.8 standard deviations
  const auto twin = [&](const Tensors& in) { return Tensors{in[0] * first, in[1] + in[0] * second}; };
  expect_twins(ours, twin, {random({40, 30}), random({40, 30})});
  expect_twins_in_fp64(ours, twin, {random({40, 30}), random({40, 30})});
}

TEST(Dropout, KeepsOneByteAnElement) {
  const auto x = random({40, 30}).requires_grad_();
  const base::SavedTensorLog log;
  const auto y = dropout_add(dropout_layer(x, kP), x, kP);
  const auto held = log.held();
  ASSERT_EQ(held.size(), 2U);
  for (const auto& saved : held) {
    EXPECT_EQ(saved.name, "dropout.mask");
    EXPECT_EQ(saved.bytes, 40 * 30);
  }
}

TEST(Dropout, OfNothingDrawsAndKeepsNothing) {
  const auto x = random({4, 3}).requires_grad_(), residual = random({4, 3});
  at::manual_seed(3);
  const auto next = at::rand({2});
  at::manual_seed(3);
  const base::SavedTensorLog log;
  EXPECT_TRUE(at::equal(dropout_add(dropout_layer(x, 0), residual, 0), x + residual));
  EXPECT_TRUE(at::equal(at::rand({2}), next));
  EXPECT_TRUE(log.held().empty());
}

}  // namespace
}  // namespace rematch::nn

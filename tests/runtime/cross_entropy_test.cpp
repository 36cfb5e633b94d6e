// Both forms of the loss's gradient: the same bits, alone and over a split vocabulary, with row kernels and without; in place means in
// place.
#include "runtime/nn/cross_entropy.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "runtime/comm/backends.h"
#include "runtime/nn/tensor_parallel.h"
#include "tests/runtime/rank_threads.h"

namespace rematch::nn {
namespace {

using Loss = std::function<at::Tensor(const at::Tensor& logits_TV, LogitsGradient form)>;

struct LossRun {
  at::Tensor loss;
  at::Tensor dlogits_TV;
  bool takes_the_logits_memory;
};

LossRun run(const Loss& loss_of, const at::Tensor& logits_TV, LogitsGradient form, double loss_grad) {
  const auto leaf = logits_TV.clone().requires_grad_();
  const auto own_TV = leaf + 0;  // the loss's alone, as a linear layer's output
  const auto loss = loss_of(own_TV, form);
  torch::autograd::backward({loss}, {at::full({}, loss_grad)});
  return {loss.detach(), leaf.grad(), at::equal(own_TV.detach(), leaf.grad())};
}

void expect_same_bits(const Loss& loss_of, const at::Tensor& logits_TV) {
  for (const double loss_grad : {1.0, 1.0 / 3}) {
    const auto wide = run(loss_of, logits_TV, LogitsGradient::kFp32, loss_grad);
    const auto in_place = run(loss_of, logits_TV, LogitsGradient::kInPlace, loss_grad);
    EXPECT_TRUE(at::equal(wide.loss, in_place.loss));
    EXPECT_TRUE(at::equal(wide.dlogits_TV, in_place.dlogits_TV)) << (wide.dlogits_TV - in_place.dlogits_TV).abs().max();
    EXPECT_GT(wide.dlogits_TV.abs().sum().item<double>(), 0);
    EXPECT_FALSE(wide.takes_the_logits_memory);
    EXPECT_TRUE(in_place.takes_the_logits_memory);
  }
}

// Wide enough for whole vectors and a rest; more rows than one part has.
at::Tensor logits(at::ScalarType type, double scale) {
  at::manual_seed(11);
  return (at::randn({150, 74}, at::kFloat) * scale).to(type);
}

at::Tensor labels() { return at::arange(150, at::kLong).mul_(7).remainder_(74); }

TEST(CrossEntropy, BothFormsGiveTheSameBits) {
  const auto labels_T = labels();
  for (const auto type : {at::kBFloat16, at::kFloat})
    for (const double scale : {1.0, 100.0})  // the latter's exponentials vanish
      expect_same_bits([&](const at::Tensor& x, LogitsGradient form) { return cross_entropy(x, labels_T, form); }, logits(type, scale));
}

TEST(CrossEntropy, BothFormsGiveTheSameBitsOverASplitVocabulary) {
  const auto labels_T = labels();
  for (const auto type : {at::kBFloat16, at::kFloat})
    run_ranks({.world_size = 2, .tensor_model_parallel_size = 2, .sequence_parallel = true}, [&](const mesh::Mesh& mesh) {
      const TensorParallel tensor_parallel(mesh);
      const auto own = logits(type, 10).chunk(2, 1)[static_cast<std::size_t>(mesh.tensor().rank())].contiguous();
      expect_same_bits(
          [&](const at::Tensor& x, LogitsGradient form) { return vocab_parallel_cross_entropy(x, labels_T, tensor_parallel, form); }, own);
    });
}

TEST(CrossEntropy, InPlaceTheGradientOfOneWordIsItsProbabilityLessTheLabel) {
  const auto logits_TV = at::tensor({0.0F, 0.0F, 0.0F, 0.0F}).to(at::kBFloat16).view({1, 4});
  const auto gradient = run([](const at::Tensor& x, LogitsGradient form) { return cross_entropy(x, at::full({1}, 2, at::kLong), form); },
                            logits_TV, LogitsGradient::kInPlace, 1)
                            .dlogits_TV.to(at::kFloat);
  EXPECT_TRUE(at::equal(gradient, at::tensor({0.25F, 0.25F, -0.75F, 0.25F}).view({1, 4}))) << gradient;
}

}  // namespace
}  // namespace rematch::nn

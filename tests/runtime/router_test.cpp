// The router against a naive twin (twin.h), with every score function, bias, forced balancing and load-balancing loss; and what its tracker
// counts.
#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>
#include <tuple>

#include "runtime/nn/jitter.h"
#include "runtime/nn/output_gate.h"
#include "runtime/nn/router.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr std::int64_t kExperts = 8, kChosen = 3, kLength = 6, kBatch = 2, kHidden = 16;
constexpr SequenceShape kSequence{kLength, kBatch};

at::Tensor naive_scores(const at::Tensor& logits, const RouterShape& shape) {
  return shape.score_function == ScoreFunction::kSigmoid ? logits.sigmoid() : logits.softmax(1);
}

at::Tensor naive_map(const at::Tensor& scores, const at::Tensor& bias) {
  const auto experts = std::get<1>((bias.defined() ? scores + bias : scores).topk(kChosen, 1));
  return at::zeros_like(scores).scatter(1, experts, 1.0).detach();
}

at::Tensor naive_probs(const at::Tensor& logits, const at::Tensor& map, const RouterShape& shape) {
  const auto scores = naive_scores(logits, shape);
  if (shape.score_function == ScoreFunction::kSigmoid) return scores * map / (scores * map).sum(1, true) * shape.scaling_factor;
  if (shape.pre_softmax) return scores * map * shape.scaling_factor;
  return logits.masked_fill(map == 0, -std::numeric_limits<double>::infinity()).softmax(1) * shape.scaling_factor;
}

// Switch loss of one group of tokens: E c / (K T^2) sum_e (sum_t n_te)(sum_t map_te).
at::Tensor naive_switch_loss(const at::Tensor& shares, const at::Tensor& map, double coeff) {
  const auto tokens = static_cast<double>(shares.size(0));
  return (shares.sum(0) * map.sum(0)).sum() * (kExperts * coeff / (kChosen * tokens * tokens));
}

at::Tensor naive_loss(const at::Tensor& logits, const at::Tensor& map, const RouterShape& shape) {
  const auto scores = naive_scores(logits, shape);
  const auto shares = shape.score_function == ScoreFunction::kSigmoid ? scores / scores.sum(1, true) : scores;
  if (shape.load_balancing != LoadBalancing::kSeqAuxLoss) return naive_switch_loss(shares, map, shape.aux_loss_coeff);
  auto loss = at::zeros({}, logits.options());
  for (std::int64_t b = 0; b < kBatch; ++b) {
    const auto of_sequence = [&](const at::Tensor& x) { return x.view({kLength, kBatch, kExperts}).select(1, b); };
    loss = loss + naive_switch_loss(of_sequence(shares), of_sequence(map), shape.aux_loss_coeff) / static_cast<double>(kBatch);
  }
  return loss;
}

Tensors router_inputs() { return {random({kSequence.num_tokens(), kHidden}), random({kExperts, kHidden})}; }

std::vector<RouterShape> score_variants() {
  const RouterShape sigmoid{.num_experts = kExperts, .topk = kChosen, .scaling_factor = 2.5};
  auto softmax = sigmoid, pre_softmax = sigmoid;
  softmax.score_function = pre_softmax.score_function = ScoreFunction::kSoftmax;
  pre_softmax.pre_softmax = true;
  return {sigmoid, softmax, pre_softmax};
}

class Router : public testing::Test {
 protected:
  void SetUp() override { at::manual_seed(7); }
};

TEST_F(Router, ProbabilitiesOfEveryScoreFunction) {
  for (const auto& shape : score_variants()) {
    RouterTracker tracker({.num_experts = kExperts, .topk = kChosen}, alone_mesh());
    const auto twin = [&](const Tensors& in) {
      const auto logits = at::matmul(in[0], in[1].t());
      return Tensors{naive_probs(logits, naive_map(naive_scores(logits, shape), {}), shape)};
    };
    const auto ours = [&](const Tensors& in) { return Tensors{route(in[0], in[1], shape, {kSequence, tracker}).probs_TE}; };
    expect_twins(ours, twin, router_inputs());
    expect_twins_in_fp64(ours, twin, router_inputs());
  }
}

// The loss joins the backward by itself: its gradient is that of the twin's loss, added to that of the probabilities.
TEST_F(Router, LoadBalancingLossesAndTheirGradients) {
  for (auto shape : score_variants())
    for (const auto type : {LoadBalancing::kAuxLoss, LoadBalancing::kSeqAuxLoss, LoadBalancing::kGlobalAuxLoss}) {
      shape.load_balancing = type;
      shape.aux_loss_coeff = 0.7;
      constexpr double kScale = 0.25;
      const auto inputs = router_inputs();
      RouterTracker tracker({.num_experts = kExperts, .topk = kChosen, .load_balancing = type}, alone_mesh());
      Tensors mine, theirs;
      for (const auto& input : inputs) {
        mine.push_back(input.to(at::kDouble).requires_grad_());
        theirs.push_back(input.to(at::kDouble).requires_grad_());
      }
      const auto weights = at::randn({kSequence.num_tokens(), kExperts}, at::kDouble);
      torch::autograd::backward({(route(mine[0], mine[1], shape, {kSequence, tracker, kScale}).probs_TE * weights).sum()}, {});
      const auto logits = at::matmul(theirs[0], theirs[1].t());
      const auto map = naive_map(naive_scores(logits, shape), {});
      const auto loss = naive_loss(logits, map, shape);
      torch::autograd::backward({(naive_probs(logits, map, shape) * weights).sum() + loss * kScale}, {});
      EXPECT_NEAR(*tracker.take_loss(), loss.item<double>() / shape.aux_loss_coeff, 1e-12);
      for (std::size_t i = 0; i < mine.size(); ++i) expect_close(mine[i].grad(), theirs[i].grad(), kFp64Tolerance, "gradient");
    }
}

TEST_F(Router, AnExpertBiasMovesTheChoiceAndNotTheProbabilitiesAndFollowsTheCounts) {
  constexpr double kRate = 0.5;
  RouterTracker tracker({.num_experts = kExperts, .topk = kChosen, .bias_update_rate = kRate}, alone_mesh());
  const auto shape = score_variants().front();
  const auto inputs = router_inputs();
  const auto routed = [&](const at::Tensor& bias) {
    const auto logits = at::matmul(inputs[0].to(at::kFloat), inputs[1].to(at::kFloat).t());
    const auto map = naive_map(naive_scores(logits, shape), bias);
    return std::pair(map, naive_probs(logits, map, shape));
  };
  const auto x = inputs[0].clone().requires_grad_();
  route(x, inputs[1], shape, {kSequence, tracker});
  tracker.finish_step();
  const auto tokens = routed({}).first.sum(0);
  EXPECT_TRUE(at::equal(tracker.expert_bias(), (tokens.mean() - tokens).sign() * kRate));
  const auto second = route(x, inputs[1], shape, {kSequence, tracker}).probs_TE;
  const auto [map, probs] = routed(tracker.expert_bias());
  EXPECT_FALSE(at::equal(map, routed({}).first)) << "the bias changed no choice: the case shows nothing";
  EXPECT_TRUE(at::allclose(second, probs, 1e-5, 1e-6));
}

TEST_F(Router, AnExpertBiasDoesNotReachTheLoadBalancingLoss) {
  auto shape = score_variants().front();
  shape.load_balancing = LoadBalancing::kSeqAuxLoss;
  shape.aux_loss_coeff = 0.7;
  RouterTracker biased({.num_experts = kExperts, .topk = kChosen, .load_balancing = shape.load_balancing, .bias_update_rate = 0.5},
                       alone_mesh());
  const auto inputs = router_inputs();
  const auto x = inputs[0].clone().requires_grad_();
  const auto before = route(x, inputs[1], shape, {kSequence, biased}).experts_TK;
  const auto loss = *biased.take_loss();
  biased.finish_step();
  const auto after = route(x, inputs[1], shape, {kSequence, biased}).experts_TK;
  EXPECT_FALSE(at::equal(before, after)) << "the bias changed no choice: the case shows nothing";
  EXPECT_EQ(*biased.take_loss(), loss);
}

// Two micro-batches in flight, as in a pipeline: the first one is replayed after the second one's forward.
TEST_F(Router, AMicroBatchCountsInItsFirstForwardAndAReplayTakesWhatItCounted) {
  for (const auto type : {LoadBalancing::kAuxLoss, LoadBalancing::kSeqAuxLoss, LoadBalancing::kGlobalAuxLoss}) {
    auto shape = score_variants().front();
    shape.load_balancing = type;
    shape.aux_loss_coeff = 0.7;
    const auto weight = random({kExperts, kHidden});
    const Tensors inputs = {random({kSequence.num_tokens(), kHidden}), random({kSequence.num_tokens(), kHidden})};
    struct Step {
      Tensors grads;
      double loss = 0;
      at::Tensor bias;
    };
    const auto step = [&](bool checkpointed) {
      RouterTracker tracker({.num_experts = kExperts, .topk = kChosen, .load_balancing = type, .bias_update_rate = 1.0}, alone_mesh());
      const auto run = [&](std::int64_t index, const at::Tensor& x) {
        return route(x, weight, shape, {{.length = kLength, .batch = kBatch, .micro_batch = index}, tracker}).probs_TE;
      };
      Step result;
      Tensors leaves, outputs;
      for (std::int64_t i = 0; i < 2; ++i) {
        leaves.push_back(inputs[static_cast<std::size_t>(i)].clone().requires_grad_());
        const at::AutoGradMode records(!checkpointed);
        outputs.push_back(run(i, leaves.back()));
      }
      for (std::int64_t i = 0; i < 2; ++i) {
        const auto index = static_cast<std::size_t>(i);
        torch::autograd::backward({(checkpointed ? run(i, leaves[index]) : outputs[index]).square().sum()}, {});
        result.grads.push_back(leaves[index].grad());
      }
      tracker.finish_step();
      result.loss = *tracker.take_loss();
      result.bias = tracker.expert_bias().clone();
      EXPECT_FALSE(tracker.take_loss());
      return result;
    };
    const auto control = step(false), replayed = step(true);
    EXPECT_EQ(replayed.loss, control.loss);
    EXPECT_TRUE(at::equal(replayed.bias, control.bias));
    EXPECT_FALSE(at::equal(control.bias, at::zeros({kExperts})));
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE(at::equal(replayed.grads[i], control.grads[i]));
  }
}

TEST_F(Router, ForcedBalancingGivesEveryExpertItsTurn) {
  RouterTracker tracker({.num_experts = kExperts, .topk = kChosen}, alone_mesh());
  auto shape = score_variants().front();
  shape.force_load_balancing = true;
  const auto inputs = router_inputs();
  const auto routing = route(inputs[0], inputs[1], shape, {kSequence, tracker});
  EXPECT_TRUE(at::equal(routing.experts_TK.view({-1}), at::arange(kSequence.num_tokens() * kChosen).remainder(kExperts)));
  EXPECT_TRUE(at::allclose(routing.probs_TE.sum(1), at::full({kSequence.num_tokens()}, 2.5)));
}

TEST_F(Router, JitterScalesEveryElementWithinItsRangeAndItsGradientAlike) {
  const auto x = at::ones({64, 32}, at::kFloat).requires_grad_();
  const auto y = jittered(x, 0.1);
  torch::autograd::backward({y.sum()}, {});
  EXPECT_TRUE(at::equal(x.grad(), y.detach()));
  EXPECT_GE(y.min().item<double>(), 0.9);
  EXPECT_LE(y.max().item<double>(), 1.1);
  EXPECT_NEAR(y.mean().item<double>(), 1, 0.01);
  EXPECT_GT(y.std().item<double>(), 0.05);
}

TEST_F(Router, OneGateARow) {
  const auto ours = [](const Tensors& in) { return Tensors{gate_output(in[0], in[1])}; };
  const auto twin = [](const Tensors& in) { return Tensors{in[0] * in[1].sigmoid()}; };
  expect_twins(ours, twin, {random({9, 12}), random({9, 1})});
  expect_twins_in_fp64(ours, twin, {random({9, 12}), random({9, 1})});
}

}  // namespace
}  // namespace rematch::nn

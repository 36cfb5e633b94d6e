// What the optimizer keeps of main weights and moments in fewer bytes is exact where it must be, and rounded as meant where it may.
#include "runtime/parallel/optimizer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "runtime/parallel/adam.h"
#include "runtime/parallel/param_remainder.h"
#include "runtime/parallel/place_parameters.h"

namespace rematch::parallel {
namespace {

constexpr std::int64_t kNumElements = 1'000;
constexpr std::int64_t kNumSteps = 300;

at::Tensor from_bits(const std::vector<std::int64_t>& patterns) { return at::tensor(patterns, at::kLong).to(at::kInt).view(at::kFloat); }
bool same_bits(const at::Tensor& a, const at::Tensor& b) { return at::equal(a.view(at::kInt), b.view(at::kInt)); }

protocol::OptimizerSpec adam_spec() {
  protocol::OptimizerSpec spec;
  spec.lr = 1e-2;
  spec.weight_decay = 0.1;
  return spec;
}

// Its own parameter and gradient, without a buffer.
struct Trained {
  Trained(const protocol::OptimizerSpec& spec_in, at::ScalarType grad_dtype)
      : spec(spec_in), layout(state_layout(spec)), piece(start(grad_dtype)), state(piece, layout) {
    state.make_late_state(layout);
  }

  static ParamPiece start(at::ScalarType grad_dtype) {
    at::manual_seed(11);
    return {at::randn({kNumElements}).to(at::kBFloat16), at::zeros({kNumElements}, grad_dtype)};
  }

  void step(const at::Tensor& grad) {
    piece.grad.copy_(grad);
    state.copy_grad(layout);
    adam_update({spec, layout, ++num_steps}, {&state});
    state.drop_grad_copy();
  }

  protocol::OptimizerSpec spec;
  StateLayout layout;
  ParamPiece piece;
  PieceState state;
  std::int64_t num_steps = 0;
};

at::Tensor gradient(std::int64_t step) {
  at::manual_seed(100 + step);
  return at::randn({kNumElements}).to(at::kBFloat16);
}

TEST(Remainder, CompletesEveryPatternToTheBit) {
  std::vector<std::int64_t> patterns;
  for (const std::int64_t high : {0x0000, 0x0001, 0x007f, 0x3f80, 0x3f7f, 0x7f7f, 0x8000, 0x8001, 0xbf80, 0xff7e})
    for (const std::int64_t low : {0x0000, 0x0001, 0x7fff, 0x8000, 0x8001, 0xffff}) patterns.push_back(high << 16 | low);
  at::manual_seed(3);
  const auto main = at::cat({from_bits(patterns), at::randn({kNumElements}), at::randn({kNumElements}) * 1e-30});
  const auto param = at::empty(main.sizes(), at::kBFloat16), remainder = at::empty(main.sizes(), at::kShort);
  split_remainder(main, param, remainder);
  EXPECT_TRUE(same_bits(join_remainder(param, remainder), main));
}

TEST(Remainder, RoundsToNearestAndTiesAwayFromZero) {
  const auto main = from_bits({0x3f807fff, 0x3f808000, 0x3f808001, 0xbf808000, 0x3f818000});
  const auto param = at::empty(main.sizes(), at::kBFloat16), remainder = at::empty(main.sizes(), at::kShort);
  split_remainder(main, param, remainder);
  EXPECT_TRUE(same_bits(param.to(at::kFloat), from_bits({0x3f800000, 0x3f810000, 0x3f810000, 0xbf810000, 0x3f820000})));
}

TEST(MainWeightsAsRemainders, FollowFp32MainWeightsToTheBit) {
  auto spec = adam_spec();
  spec.use_precision_aware_optimizer = true;
  auto late = spec;
  late.store_param_remainders = false;
  Trained remainders(spec, at::kBFloat16), engine(late, at::kBFloat16), core(adam_spec(), at::kBFloat16);
  ASSERT_EQ(remainders.layout.main_weights, MainWeights::kRemainder);
  ASSERT_EQ(engine.layout.main_weights, MainWeights::kFp32Late);
  ASSERT_EQ(core.layout.main_weights, MainWeights::kFp32);
  const auto start = core.state.main().clone();
  for (std::int64_t step = 0; step < kNumSteps; ++step) {
    for (auto* trained : {&remainders, &engine, &core}) trained->step(gradient(step));
    ASSERT_TRUE(same_bits(remainders.state.main(), core.state.main())) << "step " << step;
    ASSERT_TRUE(same_bits(engine.state.main(), core.state.main())) << "step " << step;
  }
  EXPECT_FALSE(at::equal(core.state.main(), start));
  // The parameter is the main weight rounded to nearest under both rules, which differ at ties alone.
  EXPECT_TRUE(at::equal(core.piece.param, core.state.main().to(at::kBFloat16)));
  EXPECT_LE((remainders.piece.param != core.piece.param).sum().item<std::int64_t>(), 1);
}

// Adam with decoupled decay, moments rounded to bf16 after each step, all in fp64.
struct NaiveAdam {
  explicit NaiveAdam(const at::Tensor& param)
      : main(param.to(at::kDouble)), exp_avg(at::zeros_like(main)), exp_avg_sq(at::zeros_like(main)) {}

  void step(const protocol::OptimizerSpec& spec, std::int64_t number, const at::Tensor& grad_any) {
    const auto grad = grad_any.to(at::kDouble);
    const auto m = exp_avg * spec.adam_beta1 + grad * (1 - spec.adam_beta1);
    const auto v = exp_avg_sq * spec.adam_beta2 + grad * grad * (1 - spec.adam_beta2);
    const auto m_hat = m / (1 - std::pow(spec.adam_beta1, number)), v_hat = v / (1 - std::pow(spec.adam_beta2, number));
    main = main * (1 - spec.lr * spec.weight_decay) - m_hat / (v_hat.sqrt() + spec.adam_eps) * spec.lr;
    exp_avg = m.to(at::kFloat).to(at::kBFloat16).to(at::kDouble);
    exp_avg_sq = v.to(at::kFloat).to(at::kBFloat16).to(at::kDouble);
  }

  at::Tensor main, exp_avg, exp_avg_sq;
};

TEST(Bf16Moments, FollowANaiveTwin) {
  auto spec = adam_spec();
  spec.use_precision_aware_optimizer = true;
  spec.exp_avg_dtype = spec.exp_avg_sq_dtype = "bf16";
  Trained trained(spec, at::kBFloat16), fp32(adam_spec(), at::kBFloat16);
  NaiveAdam twin(trained.piece.param);
  for (std::int64_t step = 0; step < kNumSteps; ++step) {
    trained.step(gradient(step));
    fp32.step(gradient(step));
    twin.step(spec, step + 1, gradient(step));
  }
  EXPECT_EQ(trained.state.exp_avg().scalar_type(), at::kBFloat16);
  // fp32 arithmetic differs from fp64 by 2^-24 and so rounds a moment in 2^15 to the other neighbour, 2^-8 away; the average forgets that
  // in about 10 steps, in which it has moved a weight by 10 / 2^8 of a step of lr.
  const auto difference = [&](const at::Tensor& main) { return (main.to(at::kDouble) - twin.main).abs().max().item<double>(); };
  EXPECT_LT(difference(trained.state.main()), 0.05 * spec.lr);
  EXPECT_GT(difference(fp32.state.main()), 0.1 * spec.lr);  // unrounded moments lead elsewhere
}

TEST(MixedMoments, AreEachRoundedAsDeclared) {
  auto spec = adam_spec();
  spec.use_precision_aware_optimizer = true;
  spec.exp_avg_dtype = "bf16";
  Trained trained(spec, at::kFloat), fp32(adam_spec(), at::kFloat);
  trained.step(gradient(0));
  fp32.step(gradient(0));
  EXPECT_TRUE(at::equal(trained.state.exp_avg(), fp32.state.exp_avg().to(at::kBFloat16)));
  EXPECT_TRUE(same_bits(trained.state.exp_avg_sq(), fp32.state.exp_avg_sq()));
  EXPECT_TRUE(same_bits(trained.state.main(), fp32.state.main()));  // rounding comes after the update
}

// One rank, one bf16 matrix, one fp32 vector and one fp32 expert matrix.
struct SmallJob {
  explicit SmallJob(const protocol::OptimizerSpec& spec) {
    matrix = store.declare({.name = "matrix", .shape = {3, 5}});
    vector = store.declare({.name = "vector", .shape = {7}, .dtype = at::kFloat});
    expert = store.declare({.name = "expert", .shape = {2, 2}, .kind = nn::ParameterKind::kExpert, .dtype = at::kFloat});
    buffers = place_parameters(store, mesh, {.optimizer = spec, .dummies = dummies});
    for (auto& parameter : store.all()) nn::initialise(parameter, 5, 1.0);
    std::vector<ParamBuffer*> pointers;
    for (const auto& buffer : buffers) pointers.push_back(buffer.get());
    optimizer = std::make_unique<Optimizer>(spec, mesh, pointers);
    optimizer->make_late_state();
  }

  double step() {
    optimizer->zero_grads();
    for (auto& parameter : store.all()) parameter.main_grad.fill_(2);
    optimizer->sync_grads();
    const auto norm = optimizer->grad_norm();
    optimizer->step(norm);
    return norm;
  }

  mesh::Mesh mesh{{}, {.backend = "single", .rank = 0, .device = at::kCPU, .timeout = std::chrono::milliseconds(1)}, {}};
  nn::ParameterStore store;
  nn::DummyGrads dummies;
  nn::Parameter *matrix, *vector, *expert;
  std::vector<std::unique_ptr<ParamBuffer>> buffers;
  std::unique_ptr<Optimizer> optimizer;
};

class EverySharding : public testing::TestWithParam<bool> {
 protected:
  protocol::OptimizerSpec spec() const {
    auto spec = adam_spec();
    spec.use_distributed_optimizer = GetParam();
    return spec;
  }
};

TEST_P(EverySharding, GroupsParametersByKindAndType) {
  const SmallJob job(spec());
  ASSERT_EQ(job.buffers.size(), 3u);
  EXPECT_EQ(job.matrix->main_grad.scalar_type(), at::kBFloat16);
  EXPECT_EQ(job.vector->tensor.scalar_type(), at::kFloat);
  EXPECT_EQ(job.vector->main_grad.scalar_type(), at::kFloat);
  EXPECT_EQ(job.buffers[2]->kind(), nn::ParameterKind::kExpert);
}

TEST_P(EverySharding, StepsFp32ParametersThemselves) {
  SmallJob job(spec());
  const auto before = job.vector->tensor.detach().clone();
  const double norm = job.step();
  EXPECT_DOUBLE_EQ(norm, std::sqrt(4.0 * (15 + 7 + 4)));
  // The first step of Adam is lr towards the gradient's sign; a vector does not decay. fp32 to the last digits, which bf16 has not.
  EXPECT_LT((job.vector->tensor.detach() - (before - 1e-2)).abs().max().item<double>(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Sharding, EverySharding, testing::Bool(), [](const auto& one) { return one.param ? "sharded" : "whole"; });

}  // namespace
}  // namespace rematch::parallel

// The Mamba2 mixer and its parts against a recurrence token by token; what it holds between forward and backward.
#include "runtime/nn/mamba.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "runtime/base/saved_tensors.h"
#include "runtime/nn/causal_conv.h"
#include "runtime/nn/group_rms_norm.h"
#include "runtime/nn/mamba_scan.h"
#include "runtime/recompute/policy.h"
#include "tests/runtime/mixer_twin.h"

namespace rematch::nn {
namespace {

constexpr Mamba2Shape kShape{.hidden_size = 10,
                             .mamba_num_heads = 6,
                             .mamba_head_dim = 4,
                             .mamba_state_dim = 5,
                             .mamba_num_groups = 3,
                             .chunk_size = 8,
                             .layernorm_epsilon = 0.01};  // rows near 0 would have gradients without bound, and bf16 could not follow them

// [N, ...] of groups as [N heads, ...]: head n reads group n / (heads a group)
at::Tensor for_heads(const at::Tensor& x_BGK) { return x_BGK.repeat_interleave(kShape.mamba_num_heads / kShape.mamba_num_groups, 1); }

// zxbcdt [S, B, P], weights as Mamba2Weights -> gated output [S * B, D]
at::Tensor naive_scan(const at::Tensor& zxbcdt, const Mamba2Weights& weights) {
  const auto batch = zxbcdt.size(1), heads = kShape.mamba_num_heads, width = kShape.mamba_head_dim;
  const auto parts = zxbcdt.split_with_sizes({kShape.inner_size(), kShape.conv_size(), heads}, 2);
  const auto xbc = twin::naive_conv_silu(parts[1], weights.conv_weight_WK, weights.conv_bias_W);
  auto state = at::zeros({batch, heads, width, kShape.mamba_state_dim}, zxbcdt.options());
  Tensors tokens;
  for (std::int64_t t = 0; t < zxbcdt.size(0); ++t) {
    const auto now = xbc[t].split_with_sizes({kShape.inner_size(), kShape.group_states(), kShape.group_states()}, 1);
    const auto x = now[0].view({batch, heads, width});
    const auto b = for_heads(now[1].view({batch, kShape.mamba_num_groups, -1})),
               c = for_heads(now[2].view({batch, kShape.mamba_num_groups, -1}));
    const auto dt = at::log1p((parts[2][t] + weights.dt_bias_N).exp());
    state = state * (-weights.a_log_N.exp() * dt).exp().view({batch, heads, 1, 1}) + (x * dt.unsqueeze(2)).unsqueeze(3) * b.unsqueeze(2);
    const auto y = (state * c.unsqueeze(2)).sum(3) + weights.skip_N.unsqueeze(1) * x;
    tokens.push_back(y.reshape({batch, -1}) * at::silu(parts[0][t]));
  }
  return at::cat(tokens);
}

at::Tensor naive_group_norm(const at::Tensor& x, const at::Tensor& weight, std::int64_t groups) {
  return twin::naive_rms_norm(x.unflatten(1, {groups, -1}), kShape.layernorm_epsilon).flatten(1) * weight;
}

// in: x [T, H], then the parameters in order of declaration
Tensors naive_mixer(const Tensors& in, SequenceShape sequence) {
  const auto normed = twin::naive_rms_norm(in[0], kShape.layernorm_epsilon) * in[1];
  const auto zxbcdt = at::matmul(normed, in[2].t()).unflatten(0, {sequence.length, sequence.batch});
  const auto y = naive_scan(zxbcdt, {in[3], in[4], in[5], in[6], in[7]});
  return {at::matmul(naive_group_norm(y, in[8], kShape.mamba_num_groups), in[9].t())};
}

class Mamba : public testing::Test {
 protected:
  void SetUp() override { at::manual_seed(7); }

  Tensors mixer_inputs() const {
    return twin::random_inputs(twin::random({sequence_.length * sequence_.batch, kShape.hidden_size}), store_);
  }
  Tensors forward(const Tensors& inputs) {
    twin::place(store_, inputs);
    return {mixer_.forward(inputs[0], sequence_)};
  }

  SequenceShape sequence_{21, 2};  // two chunks and a short one
  ParameterStore store_;
  recompute::Policy policy_{{}, at::kCPU};
  Mamba2Mixer mixer_{"mixer", kShape, {alone_mesh(), store_, policy_}};
};

TEST_F(Mamba, ConvolutionOfSeveralSequencesLooksBackWithinEach) {
  const auto naive = [](const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    return Tensors{twin::naive_conv_silu(x.unflatten(0, {-1, 3}), weight, bias).flatten(0, 1)};
  };
  twin::expect_same_maths(
      [](const Tensors& in) {
        return Tensors{causal_conv_silu(in[0], {in[1], in[2], 3})};
      },
      [&](const Tensors& in) { return naive(in[0], in[1], in[2]); }, {twin::random({21, 5}), twin::random({5, 4}), twin::random({5})});
  twin::expect_same_maths([](const Tensors& in) { return Tensors{causal_conv_silu(in[0], {.weight_CK = in[1], .batch = 3})}; },
                          [&](const Tensors& in) { return naive(in[0], in[1], at::Tensor()); },
                          {twin::random({6, 5}), twin::random({5, 4})});  // shorter than the kernel
}

TEST_F(Mamba, GroupNormNormsEachGroupByItself) {
  twin::expect_same_maths([](const Tensors& in) { return Tensors{group_rms_norm(in[0], in[1], 3, kShape.layernorm_epsilon)}; },
                          [](const Tensors& in) { return Tensors{naive_group_norm(in[0], in[1], 3)}; },
                          {twin::random({7, 12}), twin::random({12})});
}

TEST_F(Mamba, ScanInChunksIsTheRecurrenceTokenByToken) {
  const auto heads = kShape.mamba_num_heads;
  for (const std::int64_t length : {5, 16, 21}) {
    const auto ours = [&](const Tensors& in) {
      return Tensors{mamba2_scan(in[0].flatten(0, 1), {in[1], in[2], in[3], in[4], in[5]}, kShape, {length, 2})};
    };
    const auto naive = [](const Tensors& in) { return Tensors{naive_scan(in[0], {in[1], in[2], in[3], in[4], in[5]})}; };
    twin::expect_same_maths(ours, naive,
                            {twin::random({length, 2, kShape.projection_size()}), twin::random({kShape.conv_size(), 4}),
                             twin::random({kShape.conv_size()}), twin::random({heads}), twin::random({heads}), twin::random({heads})});
  }
}

TEST_F(Mamba, MixerIsTheNaiveOneInFp64) {
  twin::expect_same_maths([this](const Tensors& in) { return forward(in); },
                          [this](const Tensors& in) { return naive_mixer(in, sequence_); }, mixer_inputs());
}

// Six operations in a row each round to bf16 (relative 2^-9), and the gradients pass them once more.
TEST_F(Mamba, MixerInBf16IsNearTheNaiveOne) {
  const auto inputs = twin::in_training_types(mixer_inputs(), store_);
  twin::expect_close(twin::evaluate([this](const Tensors& in) { return forward(in); }, inputs),
                     twin::evaluate([this](const Tensors& in) { return naive_mixer(in, sequence_); }, twin::in_fp64(inputs)), 1.0 / 32);
}

// Bytes by token, with h = hidden_size, d = inner_size(), g = groups:
//   input norm   x 2h, rstd 4, its output (saved by in_proj) 2h
//   scan         zxbcdt 2 (2d + 2 g state + heads), output before the gate 2d
//   group norm   gated output 2d, rstd 4g, its output (saved by out_proj) 2d
TEST_F(Mamba, HoldsExactlyWhatTheFormulaSaysOnCpuAndMeta) {
  const auto h = kShape.hidden_size, d = kShape.inner_size(), g = kShape.mamba_num_groups;
  const auto zxbcdt = 2 * d + 2 * g * kShape.mamba_state_dim + kShape.mamba_num_heads;
  const auto by_token = (2 * h + 4 + 2 * h) + (2 * zxbcdt + 2 * d) + (2 * d + 4 * g + 2 * d);
  for (const auto device : {at::kCPU, at::kMeta}) {
    auto inputs = twin::in_training_types(mixer_inputs(), store_);
    for (auto& input : inputs) input = input.to(device).requires_grad_();
    inputs[0] = inputs[0].clone();  // as in a model, not a leaf
    const base::SavedTensorLog log;
    const auto y = forward(inputs)[0];
    std::int64_t held = 0;
    for (const auto& saved : log.held()) held += saved.bytes;
    EXPECT_EQ(held, by_token * sequence_.length * sequence_.batch) << device;
    torch::autograd::backward({y}, {at::empty_like(y)});
  }
}

TEST_F(Mamba, InitialValuesAreMegatrons) {
  for (auto& parameter : store_.all()) {
    parameter.tensor = at::empty(parameter.declaration.shape, parameter.declaration.dtype);
    initialise(parameter, 3, 0.02);
  }
  const auto dt = at::softplus(store_.all()[4].tensor.to(at::kFloat)), a = store_.all()[5].tensor.exp();
  EXPECT_EQ(store_.all()[5].tensor.scalar_type(), at::kFloat);
  EXPECT_TRUE(at::logical_and(dt.ge(0.99e-3), dt.le(1.01e-1)).all().item<bool>());
  EXPECT_TRUE(at::logical_and(a.ge(1), a.le(16)).all().item<bool>());
  EXPECT_GT(a.std().item<double>(), 0);
  EXPECT_TRUE(store_.all()[6].tensor.eq(1).all().item<bool>());
}

}  // namespace
}  // namespace rematch::nn

// The gated delta net and its parts against a recurrence token by token; what it holds between forward and backward, with and without
// gdn_norm_out.
#include "runtime/nn/gated_delta_net.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "runtime/base/saved_tensors.h"
#include "runtime/nn/delta_net_inputs.h"
#include "runtime/nn/gated_delta_rule.h"
#include "runtime/nn/group_rms_norm.h"
#include "runtime/recompute/policy.h"
#include "tests/runtime/mixer_twin.h"

namespace rematch::nn {
namespace {

constexpr GatedDeltaNetShape kShape{
    .hidden_size = 10,
    .linear_num_key_heads = 2,
    .linear_key_head_dim = 6,
    .linear_num_value_heads = 4,
    .linear_value_head_dim = 5,
    .linear_conv_kernel_dim = 4,
    .gamma = Gamma::kZeroCentered,
    .layernorm_epsilon = 0.01};  // rows near 0 would have gradients without bound, and bf16 could not follow them

// q, k [S, B, N, K], v [S, B, N, V], g, beta [S, B, N] -> [S * B, N * V]
at::Tensor naive_delta_rule(const Tensors& in) {
  const auto q = in[0] / std::sqrt(static_cast<double>(in[0].size(3)));
  auto state = at::zeros({q.size(1), q.size(2), q.size(3), in[2].size(3)}, q.options());
  Tensors tokens;
  for (std::int64_t t = 0; t < q.size(0); ++t) {
    const auto key = in[1][t].unsqueeze(3), value = in[2][t].unsqueeze(2);
    state = state * in[3][t].exp().unsqueeze(2).unsqueeze(3);
    const auto recalled = (state * key).sum(2, true);
    state = state + key * (value - recalled) * in[4][t].unsqueeze(2).unsqueeze(3);
    tokens.push_back((state * q[t].unsqueeze(3)).sum(2).flatten(1));
  }
  return at::cat(tokens);
}

// qkv [T, C] -> q, k, v [T, N, X], l2-normed and repeated
Tensors naive_heads(const at::Tensor& qkv) {
  const auto parts = qkv.split_with_sizes({kShape.key_size(), kShape.key_size(), kShape.value_size()}, 1);
  const auto repeated = [](const at::Tensor& x) {
    const auto heads = x.unflatten(1, {kShape.linear_num_key_heads, -1});
    return (heads / at::sqrt(heads.square().sum(2, true) + 1e-6))
        .repeat_interleave(kShape.linear_num_value_heads / kShape.linear_num_key_heads, 1);
  };
  return {repeated(parts[0]), repeated(parts[1]), parts[2].unflatten(1, {kShape.linear_num_value_heads, -1})};
}

at::Tensor naive_log_decay(const at::Tensor& alpha, const at::Tensor& dt_bias, const at::Tensor& a_log) {
  return -a_log.exp() * at::log1p((alpha + dt_bias).exp());
}

at::Tensor naive_gated_norm(const at::Tensor& o, const at::Tensor& z, const at::Tensor& weight) {
  return (twin::naive_rms_norm(o.unflatten(1, {-1, weight.size(0)}), kShape.layernorm_epsilon) * (1 + weight)).flatten(1) * at::silu(z);
}

// in: x [T, H], then the parameters in order of declaration
Tensors naive_mixer(const Tensors& in, SequenceShape sequence) {
  const auto by_position = [&](const at::Tensor& x) { return x.unflatten(0, {sequence.length, sequence.batch}); };
  const auto normed = twin::naive_rms_norm(in[0], kShape.layernorm_epsilon) * (1 + in[1]);
  const auto heads = kShape.linear_num_value_heads;
  const auto parts = at::matmul(normed, in[2].t()).split_with_sizes({kShape.conv_size(), kShape.value_size(), heads, heads}, 1);
  const auto qkv = naive_heads(twin::naive_conv_silu(by_position(parts[0]), in[3], at::Tensor()).flatten(0, 1));
  const auto o = naive_delta_rule({by_position(qkv[0]), by_position(qkv[1]), by_position(qkv[2]),
                                   by_position(naive_log_decay(parts[3], in[4], in[5])), by_position(parts[2].sigmoid())});
  return {at::matmul(naive_gated_norm(o, parts[1], in[6]), in[7].t())};
}

// A gated delta net with its parameters and policy.
struct Net {
  explicit Net(std::vector<std::string> labels)
      : policy({.recompute_granularity = "selective", .recompute_modules = std::move(labels), .core_revision = "24bad8e6"}, at::kCPU) {}
  Tensors forward(const Tensors& inputs) {
    twin::place(store, inputs);
    return {mixer.forward(inputs[0], sequence)};
  }
  Tensors random_inputs() const { return twin::random_inputs(twin::random({sequence.length * sequence.batch, kShape.hidden_size}), store); }

  SequenceShape sequence{150, 2};  // two chunks and a short one
  ParameterStore store;
  recompute::Policy policy;
  GatedDeltaNet mixer{"self_attention", kShape, {alone_mesh(), store, policy}};
};

std::int64_t held_bytes(Net& net, const Tensors& values, at::Device device) {
  Tensors inputs;
  for (const auto& value : values) inputs.push_back(value.detach().to(device).requires_grad_());
  inputs[0] = inputs[0].clone();  // as in a model, not a leaf
  const base::SavedTensorLog log;
  const auto y = net.forward(inputs)[0];
  std::int64_t held = 0;
  for (const auto& saved : log.held()) held += saved.bytes;
  torch::autograd::backward({y}, {at::empty_like(y)});
  return held;
}

class GatedDelta : public testing::Test {
 protected:
  void SetUp() override { at::manual_seed(7); }
  Net control_{{}};
};

TEST_F(GatedDelta, RuleInChunksIsTheRecurrenceTokenByToken) {
  for (const std::int64_t length : {20, 128, 150}) {
    const auto ours = [&](const Tensors& in) {
      const auto flat = [&](std::size_t i) { return in[i].flatten(0, 1); };
      return Tensors{gated_delta_rule({flat(0), flat(1), flat(2), -flat(3).square(), flat(4).sigmoid()}, {length, 2})};
    };
    const auto naive = [](const Tensors& in) { return Tensors{naive_delta_rule({in[0], in[1], in[2], -in[3].square(), in[4].sigmoid()})}; };
    const auto heads = [&](std::int64_t width) { return twin::random({length, 2, 3, width}); };
    // Keys of length 1 about, decays that leave something behind a chunk.
    twin::expect_same_maths(ours, naive,
                            {heads(6), heads(6) / 2.5, heads(4), twin::random({length, 2, 3}) / 8, twin::random({length, 2, 3})});
  }
}

TEST_F(GatedDelta, HeadsAreNormedAndRepeatedToTheValueHeads) {
  const auto ours = [](const Tensors& in) {
    const auto heads = delta_heads(in[0], kShape);
    return Tensors{heads.q_TNK, heads.k_TNK, heads.v_TNV};
  };
  twin::expect_same_maths(ours, [](const Tensors& in) { return naive_heads(in[0]); }, {twin::random({9, kShape.conv_size()})});
}

TEST_F(GatedDelta, GatesAreADecayAndAWritingStrength) {
  const auto ours = [](const Tensors& in) {
    const auto gates = delta_gates(in[0], in[1], {in[2], in[3]});
    return Tensors{gates.g_TN, gates.beta_TN};
  };
  const auto naive = [](const Tensors& in) { return Tensors{naive_log_decay(in[1], in[2], in[3]), in[0].sigmoid()}; };
  twin::expect_same_maths(ours, naive, {twin::random({9, 4}), twin::random({9, 4}), twin::random({4}), twin::random({4})});
}

TEST_F(GatedDelta, GatedNormNormsEachHead) {
  twin::expect_same_maths(
      [](const Tensors& in) { return Tensors{gated_rms_norm(in[0], in[1], in[2], kShape.layernorm_epsilon, kShape.gamma)}; },
      [](const Tensors& in) { return Tensors{naive_gated_norm(in[0], in[1], in[2])}; },
      {twin::random({7, 12}), twin::random({7, 12}), twin::random({4})});
}

TEST_F(GatedDelta, MixerIsTheNaiveOneInFp64) {
  twin::expect_same_maths([&](const Tensors& in) { return control_.forward(in); },
                          [&](const Tensors& in) { return naive_mixer(in, control_.sequence); }, control_.random_inputs());
}

// Nine operations in a row each round to bf16 (relative 2^-9), the chunks' inverses among them, and the gradients pass them once more.
TEST_F(GatedDelta, MixerInBf16IsNearTheNaiveOne) {
  const auto inputs = twin::in_training_types(control_.random_inputs(), control_.store);
  twin::expect_close(twin::evaluate([&](const Tensors& in) { return control_.forward(in); }, inputs),
                     twin::evaluate([&](const Tensors& in) { return naive_mixer(in, control_.sequence); }, twin::in_fp64(inputs)),
                     1.0 / 32);
}

// Bytes by token, with h = hidden_size, qk = key_size(), v = value_size(), nk and nv heads of dk and dv columns:
//   input norm   x 2h, rstd 4, its output (saved by in_proj) 2h
//   in_proj      its output 2 (2 qk + 2 v + 2 nv): the convolution's input, z, beta and alpha are views of it
//   l2 norm      the convolution's output 2 (2 qk + v), rstd 4 * 2 nk
//   delta rule   q and k 2 * 2 nv dk, v 2 nv dv, g 4 nv, beta 2 nv, inverses 2 * 64 nv
//   gated norm   o 2v, and (*) rstd 4 nv, its output (saved by out_proj) 2v
// gdn_norm_out drops (*).
TEST_F(GatedDelta, HoldsExactlyWhatTheFormulaSaysOnCpuAndMeta) {
  const auto h = kShape.hidden_size, qk = kShape.key_size(), v = kShape.value_size();
  const auto nk = kShape.linear_num_key_heads, nv = kShape.linear_num_value_heads, dk = kShape.linear_key_head_dim;
  const auto norm_out = 4 * nv + 2 * v;
  const auto by_token = (2 * h + 4 + 2 * h) + 2 * (2 * qk + 2 * v + 2 * nv) + (2 * (2 * qk + v) + 8 * nk) +
                        (4 * nv * dk + 2 * v + 4 * nv + 2 * nv + 128 * nv) + 2 * v + norm_out;
  const auto num_tokens = control_.sequence.length * control_.sequence.batch;
  Net recomputing({"gdn_norm_out"});
  const auto values = twin::in_training_types(control_.random_inputs(), control_.store);
  for (const auto device : {at::kCPU, at::kMeta}) {
    EXPECT_EQ(held_bytes(control_, values, device), by_token * num_tokens) << device;
    EXPECT_EQ(held_bytes(recomputing, values, device), (by_token - norm_out) * num_tokens) << device;
  }
}

TEST_F(GatedDelta, NormOutGivesTheControlsGradientsToTheBit) {
  Net recomputing({"gdn_norm_out"});
  const auto inputs = twin::in_training_types(control_.random_inputs(), control_.store);
  const auto expected = twin::evaluate([&](const Tensors& in) { return control_.forward(in); }, inputs);
  const auto found = twin::evaluate([&](const Tensors& in) { return recomputing.forward(in); }, inputs);
  EXPECT_EQ(recomputing.policy.replays().at("gdn_norm_out"), 1);
  EXPECT_EQ(control_.policy.replays().at("gdn_norm_out"), 0);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(at::equal(found[i], expected[i])) << "result " << i;
}

}  // namespace
}  // namespace rematch::nn

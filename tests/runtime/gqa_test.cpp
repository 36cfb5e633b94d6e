// Grouped-query attention as a module, in every form: the maths, the bytes it keeps, and `core_attn` on it.
#include "runtime/nn/gqa.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include "runtime/base/errors.h"
#include "runtime/base/saved_tensors.h"
#include "runtime/nn/mla.h"
#include "tests/runtime/naive_attention.h"
#include "tests/runtime/twin.h"

namespace rematch::nn {
namespace {

constexpr SequenceShape kSequence{140, 2};  // more than one block of queries
constexpr std::int64_t kTokens = 280, kHidden = 40, kHeads = 6, kGroups = 2, kHeadSize = 16;
constexpr GqaShape kPlain{
    .hidden_size = kHidden, .num_attention_heads = kHeads, .num_query_groups = kGroups, .kv_channels = kHeadSize, .rotary_base = 100};

GqaShape changed(const std::function<void(GqaShape&)>& change) {
  auto shape = kPlain;
  change(shape);
  return shape;
}

struct Form {
  std::string name;
  GqaShape shape;
};
void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

std::vector<Form> forms() {
  return {{"Plain", kPlain},
          {"OneGroupAHead", changed([](GqaShape& shape) { shape.num_query_groups = kHeads; })},
          {"PartialRotary", changed([](GqaShape& shape) { shape.rotary_percent = 0.25; })},
          {"NoPosition", changed([](GqaShape& shape) { shape.position_embedding_type = PositionEmbedding::kNone; })},
          {"OutputGate", changed([](GqaShape& shape) { shape.attention_output_gate = true; })},
          {"QkNorm", changed([](GqaShape& shape) { shape.qk_layernorm = true; })},
          {"Unfused", changed([](GqaShape& shape) { shape.attention_backend = AttentionBackend::kUnfused; })},
          {"Qwen3Next", changed([](GqaShape& shape) {
             shape.rotary_percent = 0.25;
             shape.qk_layernorm = shape.attention_output_gate = true;
             shape.gamma = Gamma::kZeroCentered;
           })}};
}

protocol::RecomputeSpec selective(const std::vector<std::string>& labels) {
  return {.recompute_granularity = "selective", .recompute_modules = labels, .core_revision = "24bad8e6"};
}

at::Tensor naive_gqa(const Tensors& in, const GqaShape& shape) {
  const auto norm = [&](const at::Tensor& x, const at::Tensor& weight) {
    const auto gamma = shape.gamma == Gamma::kZeroCentered ? weight + 1 : weight;
    return x * at::rsqrt(x.square().mean(-1, true) + shape.layernorm_epsilon) * gamma;
  };
  const auto a_group = shape.num_attention_heads / shape.num_query_groups, gates = shape.attention_output_gate ? a_group : 0;
  const auto mixed =
      at::matmul(norm(in[0], in[1]), in[2].t()).view({kSequence.length, kSequence.batch, shape.num_query_groups, -1, kHeadSize});
  const auto rotary = shape.position_embedding_type == PositionEmbedding::kNone ? 0 : std::lround(kHeadSize * shape.rotary_percent);
  auto q = mixed.narrow(3, 0, a_group).reshape({kSequence.length, kSequence.batch, kHeads, kHeadSize});
  auto k = mixed.select(3, a_group + gates);
  if (shape.qk_layernorm) q = norm(q, in[4]), k = norm(k, in[5]);
  const auto placed = [&](const at::Tensor& x) { return naive_rotation(x, rotary, shape.rotary_base).permute({1, 2, 0, 3}); };
  const auto v = mixed.select(3, a_group + gates + 1).permute({1, 2, 0, 3});
  auto o = naive_attention(placed(q), placed(k), v, 1 / std::sqrt(static_cast<double>(kHeadSize)));
  if (gates > 0) o = o * mixed.narrow(3, a_group, gates).reshape({kTokens, -1}).sigmoid();
  return at::matmul(o, in[3].t());
}

class EveryForm : public testing::TestWithParam<Form> {};

TEST_P(EveryForm, EqualsThePlainOne) {
  const auto& shape = GetParam().shape;
  at::manual_seed(7);
  recompute::Policy policy(selective({}), at::kCPU);
  ParameterStore store;
  const GroupedQueryAttention attention("attention", shape, {alone_mesh(), store, policy});
  const auto ours = [&](const Tensors& in) {
    for (std::size_t i = 0; i < store.all().size(); ++i) store.all()[i].tensor = in[i + 1];
    return Tensors{attention.forward(in[0], kSequence)};
  };
  Tensors inputs = {random({kTokens, kHidden})};
  for (const auto& parameter : store.all()) {
    const auto scale = parameter.declaration.shape.size() == 2 ? 0.2 : 1.0;
    inputs.push_back((at::randn(parameter.declaration.shape) * scale).to(at::kBFloat16));
  }
  const auto twin = [&](const Tensors& in) { return Tensors{naive_gqa(in, shape)}; };
  expect_twins_in_fp64(ours, twin, inputs);
  // Seven operations in a row, each rounded to bf16.
  expect_twins_in(at::kBFloat16, 2 * kBf16Tolerance, ours, twin, inputs);
}

TEST(GroupedQueryAttention, StartsWithNormsThatScaleByOne) {
  recompute::Policy policy(selective({}), at::kCPU);
  for (const auto& [gamma, init] : {std::pair{Gamma::kPlain, Init::kOnes}, {Gamma::kZeroCentered, Init::kZeros}}) {
    ParameterStore store;
    const GroupedQueryAttention attention("attention", changed([gamma = gamma](GqaShape& shape) {
                                            shape.qk_layernorm = true;
                                            shape.gamma = gamma;
                                          }),
                                          {alone_mesh(), store, policy});
    for (const auto& parameter : store.all()) {
      const bool is_norm = parameter.declaration.shape.size() == 1;
      EXPECT_EQ(parameter.declaration.init, is_norm ? init : Init::kNormal) << parameter.declaration.name;
    }
  }
}

TEST(GroupedQueryAttention, RefusesAShapeThatCannotBe) {
  recompute::Policy policy(selective({}), at::kCPU);
  ParameterStore store;
  const auto make = [&](const GqaShape& shape) { GroupedQueryAttention("attention", shape, {alone_mesh(), store, policy}); };
  EXPECT_THROW(make(changed([](GqaShape& shape) { shape.num_query_groups = 4; })), base::BadTrial);
  EXPECT_THROW(make(changed([](GqaShape& shape) { shape.rotary_percent = 0.2; })), base::BadTrial);  // 3 channels
}

// One forward and backward of a module with everything seeded alike.
struct Outcome {
  Tensors tensors;  // the output, then the gradients of input and parameters
  std::int64_t bytes_held = 0;
  protocol::LabelCounts replays;
};

template <typename Module, typename Shape>
Outcome run(const Shape& shape, const std::vector<std::string>& labels, at::Device device = at::kCPU) {
  recompute::Policy policy(selective(labels), device);
  random::seed_streams(policy.random(), {.seed = 5});
  ParameterStore store;
  const Module module("attention", shape, {alone_mesh(), store, policy});
  for (auto& parameter : store.all()) {
    parameter.tensor = at::empty(parameter.declaration.shape, at::TensorOptions(device).dtype(at::kBFloat16));
    initialise(parameter, 3, 0.2);
    parameter.tensor.requires_grad_();
  }
  const auto leaf = random({kTokens, kHidden}).to(device).requires_grad_();
  const base::SavedTensorLog log;
  const auto y = module.forward(leaf + 0, kSequence);  // the residual stream is no leaf
  Outcome outcome;
  for (const auto& saved : log.held()) outcome.bytes_held += saved.bytes;
  torch::autograd::backward({y}, {at::ones_like(y)});
  outcome.tensors = {y.detach(), leaf.grad()};
  for (const auto& parameter : store.all()) outcome.tensors.push_back(parameter.tensor.grad());
  outcome.replays = policy.replays();
  return outcome;
}

void expect_same_bits(const Outcome& ours, const Outcome& control) {
  ASSERT_EQ(ours.tensors.size(), control.tensors.size());
  for (std::size_t i = 0; i < ours.tensors.size(); ++i) {
    EXPECT_TRUE(at::equal(ours.tensors[i], control.tensors[i])) << "tensor " << i;
    EXPECT_GT(control.tensors[i].abs().max().item<double>(), 0) << "tensor " << i << ": the case shows nothing";
  }
}

// gqa.h and unfused_attention.h
std::int64_t formula(const GqaShape& shape, bool core_attn_recomputed) {
  const auto T = kTokens, E = kHeadSize, N = kHeads, G = shape.num_query_groups, S = kSequence.length;
  std::int64_t bytes = 4 * T * kHidden + 4 * T + 2 * T * N * E;  // norm and its rstd; o
  if (shape.qk_layernorm) bytes += (2 * E + 4) * T * (N + G);
  if (shape.attention_output_gate) bytes += 4 * T * N * E;
  if (core_attn_recomputed) return bytes + 2 * T * (N + 2 * G) * E;
  if (shape.attention_backend == AttentionBackend::kFused) return bytes + 2 * T * (N + 2 * G) * E + 4 * T * N;
  return bytes + 2 * T * 3 * N * E + (shape.attention_dropout > 0 ? 7 : 6) * T * N * S;
}

TEST_P(EveryForm, UnderCoreAttnEqualsTheControlToTheBitAndDropsItsBytes) {
  auto shape = GetParam().shape;
  for (const auto backend : {AttentionBackend::kFused, AttentionBackend::kUnfused}) {
    for (const double dropout : {0.0, 0.1}) {
      SCOPED_TRACE((backend == AttentionBackend::kFused ? "fused, dropout " : "unfused, dropout ") + std::to_string(dropout));
      shape.attention_backend = backend;
      shape.attention_dropout = dropout;
      at::manual_seed(1);
      const auto control = run<GroupedQueryAttention>(shape, {});
      at::manual_seed(1);
      const auto arm = run<GroupedQueryAttention>(shape, {"core_attn"});
      expect_same_bits(arm, control);
      EXPECT_EQ(control.bytes_held, formula(shape, false));
      EXPECT_EQ(arm.bytes_held, formula(shape, true));
      EXPECT_GT(control.bytes_held, arm.bytes_held);
      EXPECT_EQ(control.replays.at("core_attn"), 0);
      EXPECT_EQ(arm.replays.at("core_attn"), 1);
    }
  }
}

TEST(GroupedQueryAttention, DropoutChangesTheOutput) {
  at::manual_seed(1);
  const auto without = run<GroupedQueryAttention>(kPlain, {});
  at::manual_seed(1);
  const auto with = run<GroupedQueryAttention>(changed([](GqaShape& shape) { shape.attention_dropout = 0.1; }), {});
  EXPECT_FALSE(at::equal(without.tensors[0], with.tensors[0]));
}

TEST_P(EveryForm, HoldsTheSameBytesOnMeta) {
  auto shape = GetParam().shape;
  shape.attention_dropout = 0.1;
  for (const auto& labels : {std::vector<std::string>{}, {"core_attn"}})
    EXPECT_EQ(run<GroupedQueryAttention>(shape, labels, at::kMeta).bytes_held, formula(shape, /*core_attn_recomputed=*/!labels.empty()));
}

INSTANTIATE_TEST_SUITE_P(GroupedQueryAttention, EveryForm, testing::ValuesIn(forms()),
                         [](const testing::TestParamInfo<Form>& form) { return form.param.name; });

TEST(MultiLatentAttention, EqualsTheControlToTheBitOnEitherBackendWithDropout) {
  MlaShape shape{
      .hidden_size = kHidden, .num_attention_heads = 3, .kv_lora_rank = 10, .qk_head_dim = 6, .qk_pos_emb_head_dim = 4, .v_head_dim = 5};
  for (const auto backend : {AttentionBackend::kFused, AttentionBackend::kUnfused}) {
    for (const double dropout : {0.0, 0.1}) {
      shape.attention_backend = backend;
      shape.attention_dropout = dropout;
      at::manual_seed(1);
      const auto control = run<MultiLatentAttention>(shape, {});
      for (const auto& labels : {std::vector<std::string>{"core_attn"}, {"mla_up_proj"}, {"core_attn", "mla_up_proj"}}) {
        at::manual_seed(1);
        const auto arm = run<MultiLatentAttention>(shape, labels);
        expect_same_bits(arm, control);
        for (const auto& label : labels) EXPECT_EQ(arm.replays.at(label), 1) << label;
        const auto rows = 3 * kTokens;
        const auto square = (dropout > 0 ? 7 : 6) * rows * kSequence.length;
        if (labels == std::vector<std::string>{"core_attn"}) {
          EXPECT_EQ(control.bytes_held - arm.bytes_held, backend == AttentionBackend::kFused ? 4 * rows : square);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rematch::nn

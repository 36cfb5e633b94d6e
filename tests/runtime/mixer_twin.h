// What the twins of whole mixers need beside twin.h: parameters as inputs, inputs of several types, and naive parts that two mixers share.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "runtime/nn/parameter.h"
#include "tests/runtime/twin.h"

namespace rematch::nn::twin {

inline at::Tensor random(std::initializer_list<std::int64_t> sizes) { return at::randn(at::IntArrayRef(sizes), at::kDouble); }

// Outputs, then the gradients of all inputs for output gradients that depend on nothing but the shapes.
inline Tensors evaluate(const Operation& operation, const Tensors& inputs) {
  Tensors leaves;
  for (const auto& input : inputs) leaves.push_back(input.detach().clone().requires_grad_());
  auto results = operation(leaves);
  Tensors grads;
  at::manual_seed(5);
  for (const auto& result : results) grads.push_back(at::randn(result.sizes(), at::kFloat).to(at::kBFloat16).to(result.scalar_type()));
  torch::autograd::backward(results, grads);
  for (const auto& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

inline void expect_close(const Tensors& ours, const Tensors& theirs, double tolerance) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i)
    nn::expect_close(ours[i], theirs[i].to(at::kDouble), tolerance, "result " + std::to_string(i));
}

inline void expect_same_maths(const Operation& ours, const Operation& twin, const Tensors& inputs) {
  expect_close(evaluate(ours, inputs), evaluate(twin, inputs), kFp64Tolerance);
}

// An input and then values for every parameter, in order of declaration: large enough that each of them matters.
inline Tensors random_inputs(const at::Tensor& x, const ParameterStore& store) {
  Tensors inputs = {x};
  for (const auto& parameter : store.all()) {
    const auto& shape = parameter.declaration.shape;
    const double scale = shape.size() == 2 ? 1.5 / std::sqrt(static_cast<double>(shape[1])) : 0.5;
    inputs.push_back(at::randn(shape, at::kDouble) * scale);
    if (parameter.declaration.init == Init::kOnes) inputs.back() += 1;
  }
  return inputs;
}

// As the trainer holds them: each parameter in its declared type, x in bf16.
inline Tensors in_training_types(const Tensors& inputs, const ParameterStore& store) {
  Tensors typed = {inputs[0].to(at::kBFloat16)};
  for (const auto& parameter : store.all()) typed.push_back(inputs[typed.size()].to(parameter.declaration.dtype));
  return typed;
}

inline Tensors in_fp64(const Tensors& inputs) {
  Tensors doubles;
  for (const auto& input : inputs) doubles.push_back(input.to(at::kDouble));
  return doubles;
}

// Puts all inputs but the first into the parameters, in order of declaration.
inline void place(ParameterStore& store, const Tensors& inputs) {
  for (std::size_t i = 1; i < inputs.size(); ++i) store.all()[i - 1].tensor = inputs[i];
}

// silu(depthwise causal convolution), token by token. x [S, B, C], weight [C, K], bias [C] or undefined
inline at::Tensor naive_conv_silu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  const auto num_taps = weight.size(1);
  Tensors tokens;
  for (std::int64_t t = 0; t < x.size(0); ++t) {
    auto sum = bias.defined() ? bias.expand({x.size(1), -1}) : at::zeros({x.size(1), x.size(2)}, x.options());
    for (std::int64_t back = 0; back <= std::min(t, num_taps - 1); ++back) sum = sum + x[t - back] * weight.select(1, num_taps - 1 - back);
    tokens.push_back(at::silu(sum));
  }
  return at::stack(tokens);
}

inline at::Tensor naive_rms_norm(const at::Tensor& x, double epsilon) { return x / at::sqrt(x.square().mean(-1, true) + epsilon); }

}  // namespace rematch::nn::twin

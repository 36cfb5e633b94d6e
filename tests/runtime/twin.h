// An operation of ours against its twin: the same maths written plainly, differentiated by LibTorch. Outputs and the gradients of all
// inputs are compared, for random output gradients, relative to the largest magnitude of the twin's tensor.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <functional>
#include <string>
#include <vector>

#include "runtime/mesh/mesh.h"

namespace rematch::nn {

using Tensors = std::vector<at::Tensor>;
using Operation = std::function<Tensors(const Tensors&)>;

// The mesh of one rank by itself.
inline const mesh::Mesh& alone_mesh() {
  static const mesh::Mesh mesh({}, {.backend = "single"}, {});
  return mesh;
}

// bf16: results are rounded once or twice, relative 2^-8 each. fp64: sums of some hundred terms, in another order.
inline constexpr double kBf16Tolerance = 1.0 / 64, kFp64Tolerance = 1e-9;

inline at::Tensor random(std::initializer_list<std::int64_t> sizes) {
  return at::randn(at::IntArrayRef(sizes), at::kFloat).to(at::kBFloat16);
}

// Outputs, then the gradients of all inputs for fixed output gradients.
inline Tensors evaluate(const Operation& operation, const Tensors& inputs, const Tensors& output_grads, at::ScalarType type) {
  Tensors leaves;
  for (const auto& input : inputs) leaves.push_back(input.to(type).clone().requires_grad_());
  auto results = operation(leaves);
  Tensors grads;
  for (std::size_t i = 0; i < results.size(); ++i) grads.push_back(output_grads[i].to(results[i].scalar_type()));
  torch::autograd::backward(results, grads);
  for (const auto& leaf : leaves) results.push_back(leaf.grad());
  return results;
}

inline void expect_close(const at::Tensor& ours, const at::Tensor& twin, double tolerance, const std::string& what) {
  ASSERT_TRUE(ours.defined()) << what;
  ASSERT_EQ(ours.sizes(), twin.sizes()) << what;
  const double scale = twin.abs().max().item<double>();
  EXPECT_GT(scale, 0) << what << " of the twin is all zero: the case shows nothing";
  EXPECT_LE((ours.to(at::kDouble) - twin).abs().max().item<double>(), tolerance * scale) << what;
}

// The twin runs in fp64 on the same bf16 values; ours runs in `type`.
inline void expect_twins_in(at::ScalarType type, double tolerance, const Operation& ours, const Operation& twin, const Tensors& inputs) {
  Tensors output_grads;
  {
    Tensors doubles;
    for (const auto& input : inputs) doubles.push_back(input.to(at::kDouble));
    for (const auto& output : twin(doubles)) output_grads.push_back(at::randn(output.sizes(), at::kFloat).to(at::kBFloat16));
  }
  const auto mine = evaluate(ours, inputs, output_grads, type);
  const auto theirs = evaluate(twin, inputs, output_grads, at::kDouble);
  ASSERT_EQ(mine.size(), theirs.size());
  for (std::size_t i = 0; i < mine.size(); ++i)
    expect_close(mine[i], theirs[i], tolerance,
                 i < output_grads.size() ? "output " + std::to_string(i) : "gradient of input " + std::to_string(i - output_grads.size()));
}

inline void expect_twins(const Operation& ours, const Operation& twin, const Tensors& inputs) {
  expect_twins_in(at::kBFloat16, kBf16Tolerance, ours, twin, inputs);
}

inline void expect_twins_in_fp64(const Operation& ours, const Operation& twin, const Tensors& inputs) {
  expect_twins_in(at::kDouble, kFp64Tolerance, ours, twin, inputs);
}

}  // namespace rematch::nn

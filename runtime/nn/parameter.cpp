#include "runtime/nn/parameter.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <utility>

#include "runtime/base/errors.h"
#include "runtime/base/hash.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

std::uint64_t seed_of(const std::string& name, std::int64_t seed) {
  return base::fnv1a(name.data(), name.size(), base::kFnvStart ^ static_cast<std::uint64_t>(seed));
}

// fp32 values of a parameter that is drawn by `init`; `std_deviation` is kNormal's.
at::Tensor drawn(Init init, const at::Tensor& values, double std_deviation, at::Generator generator) {
  switch (init) {
    case Init::kNormal: return values.normal_(0, std_deviation, generator);
    case Init::kOnes: return values.fill_(1);
    case Init::kZeros: return values.zero_();
    case Init::kConv: return values.uniform_(-0.5, 0.5, generator);
    case Init::kMambaALog: return values.uniform_(1, 16, generator).log_();
    case Init::kMambaDtBias: {
      const auto dt = values.uniform_(std::log(1e-3), std::log(1e-1), generator).exp_();
      return dt + at::log(-at::expm1(-dt));
    }
  }
  return values;
}

std::vector<std::int64_t> whole_shape(const ParameterDeclaration& declaration) {
  auto shape = declaration.shape;
  if (declaration.split) shape[static_cast<std::size_t>(declaration.split->dim)] *= declaration.split->count;
  return shape;
}

}  // namespace

at::Tensor part_of(const at::Tensor& whole, const Split& split) {
  const auto sections = split.sections.empty() ? std::vector{whole.size(split.dim)} : split.sections;
  std::vector<at::Tensor> parts;
  std::int64_t first = 0;
  for (const auto section : sections) {
    const auto width = section / split.count;
    parts.push_back(whole.narrow(split.dim, first + split.rank * width, width));
    first += section;
  }
  return at::cat(parts, split.dim);
}

ParameterDeclaration split_parameter(ParameterDeclaration whole, Split split) {
  auto& length = whole.shape[static_cast<std::size_t>(split.dim)];
  for (const auto section : split.sections.empty() ? std::vector{length} : split.sections)
    if (section % split.count != 0)
      throw base::BadTrial(whole.name + ": wanted a multiple of the ranks that share it (" + std::to_string(split.count) +
                           ") along dimension " + std::to_string(split.dim) + ", found " + std::to_string(section));
  length /= split.count;
  whole.split = std::move(split);
  return whole;
}

std::int64_t Parameter::num_elements() const {
  std::int64_t count = 1;
  for (const auto extent : declaration.shape) count *= extent;
  return count;
}

Parameter* ParameterStore::declare(ParameterDeclaration declaration) {
  parameters_.push_back({std::move(declaration), at::Tensor()});
  return &parameters_.back();
}

void initialise(const Parameter& parameter, std::int64_t seed, double std_deviation) {
  kernel({parameter.tensor}, [&] {
    const auto& declaration = parameter.declaration;
    const auto generator = at::detail::createCPUGenerator(seed_of(declaration.name, seed));
    const auto whole = drawn(declaration.init, at::empty(whole_shape(declaration), at::kFloat), std_deviation, generator);
    parameter.tensor.copy_(declaration.split ? part_of(whole, *declaration.split) : whole);
  });
}

}  // namespace rematch::nn

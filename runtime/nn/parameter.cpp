#include "runtime/nn/parameter.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include "runtime/base/hash.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

std::uint64_t seed_of(const std::string& name, std::int64_t seed) {
  return base::fnv1a(name.data(), name.size(), base::kFnvStart ^ static_cast<std::uint64_t>(seed));
}

}  // namespace

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
  kernel(parameter.tensor, [&] {
    at::Tensor tensor = parameter.tensor;
    switch (parameter.declaration.init) {
      case Init::kOnes: tensor.fill_(1); return;
      case Init::kZeros: tensor.zero_(); return;
      case Init::kNormal: break;
    }
    const auto generator = at::detail::createCPUGenerator(seed_of(parameter.declaration.name, seed));
    tensor.copy_(at::empty(parameter.declaration.shape, at::kFloat).normal_(0, std_deviation, generator));
  });
}

}  // namespace rematch::nn

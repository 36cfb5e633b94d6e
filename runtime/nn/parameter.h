// The parameters of a model: declared by its modules, placed by the data-parallel buffers. Pointers stay valid for the store's life.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace rematch::nn {

enum class Init {
  kNormal,
  kOnes,
  kZeros,
  kConv,         // a depthwise convolution's weight and bias: uniform as PyTorch's for a kernel of 4, [-1/2, 1/2]
  kMambaALog,    // log of uniform [1, 16]
  kMambaDtBias,  // its softplus is log-uniform in [1e-3, 1e-1]
};
enum class ParameterKind { kDense, kExpert };  // an expert's gradients are reduced over the expert-data-parallel group

struct ParameterDeclaration {
  std::string name;  // unique in the whole job: experts carry their global index
  std::vector<std::int64_t> shape;
  Init init = Init::kNormal;
  ParameterKind kind = ParameterKind::kDense;
  at::ScalarType dtype = at::kBFloat16;  // fp32 for the few that Megatron keeps so
};

struct Parameter {
  ParameterDeclaration declaration;
  at::Tensor tensor;  // bf16 leaf, a view of a buffer; undefined until placed
  std::int64_t num_elements() const;
};

class ParameterStore {
 public:
  Parameter* declare(ParameterDeclaration declaration);
  std::deque<Parameter>& all() { return parameters_; }
  const std::deque<Parameter>& all() const { return parameters_; }

 private:
  std::deque<Parameter> parameters_;
};

// Fills a parameter from the seed and its name alone: the same values under every layout.
void initialise(const Parameter& parameter, std::int64_t seed, double std_deviation);

}  // namespace rematch::nn

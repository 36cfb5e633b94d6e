// The parameters of a model: declared by its modules, placed by the data-parallel buffers. Pointers stay valid for the store's life.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <optional>
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

// What a rank's gradient is of a parameter that every tensor-parallel rank has whole: all of it, or one of the addends, since the rank saw
// only some of the rows or of the heads.
enum class TensorGrad { kWhole, kPart };

// The part of a whole parameter that a rank holds: part `rank` of `count` of each section of dimension `dim`.
struct Split {
  std::int64_t dim = 0;
  std::vector<std::int64_t> sections;  // their whole sizes, multiples of `count`; none: all of the dimension is one
  int rank = 0;
  int count = 1;
};

struct ParameterDeclaration {
  std::string name;                 // unique in the whole job: experts carry their global index
  std::vector<std::int64_t> shape;  // of this rank's part
  Init init = Init::kNormal;
  ParameterKind kind = ParameterKind::kDense;
  at::ScalarType dtype = at::kBFloat16;  // fp32 for the few that Megatron keeps so
  std::optional<Split> split;            // unset: every rank holds the whole
  TensorGrad tensor_grad = TensorGrad::kWhole;
};

// What the rank has of a tensor in the shape of the whole parameter.
at::Tensor part_of(const at::Tensor& whole, const Split& split);

// This rank's part of `whole`, which is not split yet. Throws base::BadTrial where a section does not divide.
ParameterDeclaration split_parameter(ParameterDeclaration whole, Split split);

struct Parameter {
  ParameterDeclaration declaration;
  at::Tensor tensor;     // leaf; undefined until placed
  at::Tensor main_grad;  // where its gradients add up (nn/main_grad.h); undefined until placed
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

// Fills a parameter from the seed and its name alone: the same values under every layout. A part is cut from the whole.
void initialise(const Parameter& parameter, std::int64_t seed, double std_deviation);

}  // namespace rematch::nn

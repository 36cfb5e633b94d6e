// The weight of an RMS norm, declared so that the norm scales by 1 at first.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/nn/parameter.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::nn {

struct NormWeight {
  std::string name;
  std::int64_t width = 0;
  Gamma gamma = Gamma::kPlain;
  TensorGrad tensor_grad = TensorGrad::kWhole;
};

inline Parameter* declare_norm_weight(ParameterStore& store, const NormWeight& norm) {
  return store.declare({.name = norm.name,
                        .shape = {norm.width},
                        .init = norm.gamma == Gamma::kZeroCentered ? Init::kZeros : Init::kOnes,
                        .tensor_grad = norm.tensor_grad});
}

}  // namespace rematch::nn

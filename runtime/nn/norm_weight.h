// The weight of an RMS norm, declared so that the norm scales by 1 at first.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/nn/parameter.h"
#include "runtime/nn/rms_norm.h"

namespace rematch::nn {

inline Parameter* declare_norm_weight(ParameterStore& store, const std::string& name, std::int64_t width, Gamma gamma = Gamma::kPlain) {
  return store.declare({.name = name, .shape = {width}, .init = gamma == Gamma::kZeroCentered ? Init::kZeros : Init::kOnes});
}

}  // namespace rematch::nn

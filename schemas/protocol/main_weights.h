// Which main weights an optimizer keeps of bf16 parameters, by Megatron's byte modes (reports/METRICS.md, "Persistent bytes"). Pure.
#pragma once

#include "schemas/protocol/trial.h"

namespace rematch::protocol {

// Those of fp32 parameters are the parameters.
enum class MainWeights {
  kFp32,       // Megatron Core's, made with the optimizer; it steps on fp32 gradients
  kFp32Late,   // Transformer Engine's, made with the moments; it steps on gradients of any type
  kRemainder,  // Transformer Engine's int16 beside the parameter, made with the moments
};

MainWeights main_weights(const OptimizerSpec& optimizer);

}  // namespace rematch::protocol

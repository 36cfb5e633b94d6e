#include "schemas/protocol/main_weights.h"

namespace rematch::protocol {

MainWeights main_weights(const OptimizerSpec& optimizer) {
  const bool engine_holds_them = optimizer.use_precision_aware_optimizer && optimizer.fp8_recipe.value_or("delayed") == "delayed";
  if (!engine_holds_them) return MainWeights::kFp32;
  return optimizer.store_param_remainders ? MainWeights::kRemainder : MainWeights::kFp32Late;
}

}  // namespace rematch::protocol

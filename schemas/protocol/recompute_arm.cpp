#include "schemas/protocol/recompute_arm.h"

#include <algorithm>

namespace rematch::protocol {

namespace {

std::string full_name(const RecomputeSpec& recompute) {
  const auto& num_layers = recompute.recompute_num_layers;
  return std::string(kFullRecompute) + ":" + recompute.recompute_method.value_or("unset") + ":" +
         (num_layers ? std::to_string(*num_layers) : "unset") + (recompute.distribute_saved_activations ? ":distributed" : "");
}

}  // namespace

std::string arm_name(const RecomputeSpec& recompute) {
  if (!recompute.recompute_granularity) return "null";
  if (recompute.recompute_granularity == "full") return full_name(recompute);
  std::string name;
  for (const std::string& label : counted_keys(recompute)) name += (name.empty() ? "" : "+") + label;
  return name.empty() ? "[]" : name;
}

std::vector<std::string> counted_keys(const RecomputeSpec& recompute) {
  if (!recompute.recompute_granularity) return {};
  if (recompute.recompute_granularity == "full") return {kFullRecompute};
  return recompute.recompute_modules.value_or(std::vector<std::string>{});
}

std::int64_t num_checkpointed_groups(const RecomputeSpec& recompute, std::int64_t num_layers) {
  const std::int64_t count = recompute.recompute_num_layers.value_or(0);
  if (count < 1 || !recompute.recompute_method) return 0;
  return recompute.recompute_method == "block" ? std::min(count, num_layers) : (num_layers + count - 1) / count;
}

}  // namespace rematch::protocol

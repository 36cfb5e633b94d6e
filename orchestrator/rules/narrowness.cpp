#include "orchestrator/rules/narrowness.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace rematch::rules {

namespace {

// From what replays least to what replays most. A label that is not here counts as wider than all of them.
constexpr std::array<std::string_view, 8> kNarrowToWide = {"core_attn",   "gdn_norm_out",   "layernorm", "moe_act",
                                                           "mla_up_proj", "shared_experts", "mlp",       "moe"};
constexpr std::int64_t kBlock = 100;  // beyond every label
constexpr std::int64_t kUniform = 101;

std::int64_t width_of_label(std::string_view label) {
  return std::find(kNarrowToWide.begin(), kNarrowToWide.end(), label) - kNarrowToWide.begin();
}

}  // namespace

Width width_of(const protocol::RecomputeSpec& recompute) {
  if (recompute.recompute_granularity == "full")
    return {recompute.recompute_method == "block" ? kBlock : kUniform, recompute.recompute_num_layers.value_or(0),
            recompute.distribute_saved_activations ? 1 : 0};
  Width width;
  for (const std::string& label : recompute.recompute_modules.value_or(std::vector<std::string>{})) width.push_back(width_of_label(label));
  std::sort(width.begin(), width.end(), std::greater<>());
  return width;
}

}  // namespace rematch::rules

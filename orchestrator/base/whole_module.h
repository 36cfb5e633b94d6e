// Which labels recompute a module as a whole, so that its input and output are all that is kept. Pure.
#pragma once

#include <string_view>

namespace rematch::base {

constexpr bool is_whole_module(std::string_view label) { return label == "mlp" || label == "moe" || label == "gdn"; }

}  // namespace rematch::base

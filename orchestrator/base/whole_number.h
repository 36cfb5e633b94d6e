// Text that is nothing but a whole number. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rematch::base {

// "17", "-4"; nullopt: anything beside it, nothing at all, or more than 64 bits hold.
std::optional<std::int64_t> whole_number(std::string_view text);

}  // namespace rematch::base

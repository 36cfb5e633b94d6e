// The difference of a figure to another as a fraction: ratio - 1. Pure.
#pragma once

#include <optional>

namespace rematch::stats {

// nullopt when either was not measured, or the base is 0.
std::optional<double> difference_fraction(std::optional<double> value, std::optional<double> base);

}  // namespace rematch::stats

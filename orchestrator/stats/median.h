// The median of samples: of an even number, the mean of the middle two. Pure.
#pragma once

#include <optional>
#include <vector>

namespace rematch::stats {

std::optional<double> median(std::vector<double> samples);  // nullopt of none

}  // namespace rematch::stats

// Fewer points of a line that has too many, without hiding an extreme. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace rematch::report {

struct LinePoint {
  double x = 0;
  double y = 0;
};

// All of at most 2 * num_buckets points; else of each of num_buckets runs of consecutive points, as even as can be, the lowest and the
// highest, in their order. num_buckets is at least 1.
inline std::vector<LinePoint> thinned(std::span<const LinePoint> points, std::size_t num_buckets) {
  if (points.size() <= 2 * num_buckets) return {points.begin(), points.end()};
  std::vector<LinePoint> some;
  for (std::size_t i = 0; i < num_buckets; ++i) {
    const std::size_t begin = i * points.size() / num_buckets;
    const std::span<const LinePoint> bucket = points.subspan(begin, (i + 1) * points.size() / num_buckets - begin);
    const auto [lowest, highest] =
        std::minmax_element(bucket.begin(), bucket.end(), [](const LinePoint& a, const LinePoint& b) { return a.y < b.y; });
    some.push_back(lowest < highest ? *lowest : *highest);
    if (lowest != highest) some.push_back(lowest < highest ? *highest : *lowest);
  }
  return some;
}

}  // namespace rematch::report

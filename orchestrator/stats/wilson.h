// Wilson's score interval of a share (J. Am. Stat. Assoc. 22, 1927, 209), two-sided, without continuity correction. Pure.
#pragma once

#include <cstdint>

namespace rematch::stats {

struct Share {
  double low = 0;
  double high = 1;
};

// Of num_hits in num_trials; num_trials > 0. 0 < confidence < 1.
Share wilson_interval(std::int64_t num_hits, std::int64_t num_trials, double confidence);

}  // namespace rematch::stats

#include "orchestrator/engine/remaining_time.h"

#include <algorithm>

namespace rematch::engine {

void RemainingTime::trial_took(double seconds) {
  ++num_ended_;
  total_s_ += seconds;
}

std::optional<double> RemainingTime::seconds_left(double elapsed_s, double fraction) const {
  if (num_ended_ == 0 && fraction <= 0) return std::nullopt;
  const double per_trial_s = num_ended_ > 0 ? total_s_ / static_cast<double>(num_ended_) : elapsed_s / fraction;
  const auto num_after_this = static_cast<double>(std::max<std::int64_t>(0, num_to_run_ - num_ended_ - 1));
  return std::max(0.0, per_trial_s - elapsed_s) + num_after_this * per_trial_s;
}

}  // namespace rematch::engine

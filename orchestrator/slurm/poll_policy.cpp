#include "orchestrator/slurm/poll_policy.h"

#include <algorithm>
#include <cstdint>

namespace rematch::slurm {

bool PollPolicy::may_call(Time now) const {
  const auto recent = std::count_if(calls_.begin(), calls_.end(), [&](Time call) { return now - call < kWindow; });
  return static_cast<std::size_t>(recent) < kMostCalls;
}

void PollPolicy::called(Time now) {
  calls_.push_back(now);
  while (now - calls_.front() >= kWindow) calls_.pop_front();
}

void PollPolicy::asked(Time now, bool has_changed) {
  const auto longer = std::chrono::milliseconds(static_cast<std::int64_t>(static_cast<double>(interval_.count()) * kGrowth));
  interval_ = has_changed ? kShortest : std::min(longer, kLongest);
  due_ = now + interval_;
}

}  // namespace rematch::slurm

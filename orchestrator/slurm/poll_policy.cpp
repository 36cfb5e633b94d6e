#include "orchestrator/slurm/poll_policy.h"

#include <algorithm>
#include <cstdint>

namespace rematch::slurm {

std::size_t PollPolicy::num_recent(Time now) const {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [&](Time call) { return now - call < kWindow; }));
}

bool PollPolicy::may_call(Time now) const { return num_recent(now) < kMostCalls; }

void PollPolicy::hurry(Time now) {
  if (num_recent(now) + 1 < kMostCalls) due_ = std::min(due_, now);
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

// When Slurm may be asked again: every 15 s while something changes, less and less often down to once a minute while nothing does, and
// never more than four calls a minute. The clock is the caller's. One thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>

namespace rematch::slurm {

class PollPolicy {
 public:
  using Time = std::chrono::steady_clock::time_point;

  static constexpr std::chrono::milliseconds kShortest{15'000};
  static constexpr std::chrono::milliseconds kLongest{60'000};
  static constexpr double kGrowth = 1.5;
  static constexpr std::chrono::milliseconds kWindow{60'000};
  static constexpr std::size_t kMostCalls = 4;  // in a window

  explicit PollPolicy(Time now) : due_(now) {}

  // The queue is to be asked now.
  bool is_due(Time now) const { return now >= due_ && may_call(now); }
  bool may_call(Time now) const;
  void called(Time now);  // any call of a client
  // The queue has answered; or not, which is no change.
  void asked(Time now, bool has_changed);
  // Something happened that Slurm knows more of: asks now, unless so often was asked lately that the last call of the window is kept for
  // the interval's end.
  void hurry(Time now);

 private:
  std::size_t num_recent(Time now) const;

  Time due_;
  std::chrono::milliseconds interval_ = kShortest;
  std::deque<Time> calls_;  // of the last window
};

}  // namespace rematch::slurm

// How long a study will still take, from the trials that ended in this run and the one that is running. Pure.
#pragma once

#include <cstdint>
#include <optional>

namespace rematch::engine {

class RemainingTime {
 public:
  explicit RemainingTime(std::int64_t num_trials_to_run) : num_to_run_(num_trials_to_run) {}
  void trial_took(double seconds);
  // `fraction` of the running trial's steps are done after `elapsed_s`. Null while neither says anything.
  std::optional<double> seconds_left(double elapsed_s, double fraction) const;

 private:
  std::int64_t num_to_run_;
  std::int64_t num_ended_ = 0;
  double total_s_ = 0;
};

}  // namespace rematch::engine

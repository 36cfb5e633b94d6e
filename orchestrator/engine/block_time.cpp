#include "orchestrator/engine/block_time.h"

#include <algorithm>

namespace rematch::engine {

void BlockTime::ended(const base::AttemptRows& attempt) {
  if (attempt.launch.end_unix_ns > attempt.launch.start_unix_ns)
    trial_took(attempt.trial.arm, static_cast<double>(attempt.launch.end_unix_ns - attempt.launch.start_unix_ns) / 1e9);
}

void BlockTime::trial_took(const std::string& arm, double seconds) {
  double& longest = longest_s_[arm];
  longest = std::max(longest, seconds);
}

std::optional<double> BlockTime::expected(const std::vector<const protocol::Trial*>& trials) const {
  if (longest_s_.empty()) return std::nullopt;
  double of_any_s = 0;
  for (const auto& [arm, seconds] : longest_s_) of_any_s = std::max(of_any_s, seconds);
  double sum_s = 0;
  for (const protocol::Trial* trial : trials) {
    const auto known = longest_s_.find(trial->arm);
    sum_s += known == longest_s_.end() ? of_any_s : known->second;
  }
  return sum_s;
}

}  // namespace rematch::engine

// How long the trials of a block will take, from the longest that each arm has taken so far. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"

namespace rematch::engine {

class BlockTime {
 public:
  // An attempt that ran to its end, by its launch record.
  void ended(const base::AttemptRows& attempt);
  void trial_took(const std::string& arm, double seconds);
  // Seconds. An arm that has not run counts as the longest of those that have; nullopt: none has.
  std::optional<double> expected(const std::vector<const protocol::Trial*>& trials) const;

 private:
  std::map<std::string, double> longest_s_;  // by arm
};

}  // namespace rematch::engine

// Rule: how many blocks an undecided arm needs in all, if its difference and the noise stay as they are. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "orchestrator/stats/block_fit.h"

namespace rematch::rules {

class BlocksNeeded {
 public:
  explicit BlocksNeeded(const stats::BlockDesign& design) : design_(design) {}

  // The smallest number of blocks, above the `num_own_blocks` in which the arm has a run, with which `arm` - a logarithm of a ratio - is
  // decided: the half-width shrinks with the root of the number of blocks and with the critical value. nullopt: more than 10,000.
  std::optional<std::int64_t> of(const stats::ArmDifference& arm, double smallest_effect, std::int64_t num_own_blocks);

 private:
  double half_width(const stats::ArmDifference& arm, std::int64_t num_own_blocks, std::int64_t num_blocks);
  double critical_value(std::int64_t num_blocks);

  const stats::BlockDesign& design_;
  std::map<std::int64_t, double> critical_values_;  // by number of blocks
};

}  // namespace rematch::rules

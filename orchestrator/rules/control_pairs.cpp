#include "orchestrator/rules/control_pairs.h"

#include <algorithm>
#include <map>
#include <utility>

#include "orchestrator/stats/ratio.h"

namespace rematch::rules {

std::vector<base::ControlPair> control_pairs(const std::vector<base::RunVerdict>& runs, const std::string& control_arm) {
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::optional<double>>>> by_block;  // (slot, step time)
  for (const base::RunVerdict& run : runs)
    if (run.arm == control_arm && run.figures) by_block[run.block].emplace_back(run.slot, run.figures->median_step_time_ns);
  std::vector<base::ControlPair> pairs;
  for (auto& [block, controls] : by_block) {
    if (controls.size() < 2) continue;
    std::sort(controls.begin(), controls.end());
    if (auto difference = stats::difference_fraction(controls.back().second, controls.front().second))
      pairs.push_back({block, *difference});
  }
  return pairs;
}

}  // namespace rematch::rules

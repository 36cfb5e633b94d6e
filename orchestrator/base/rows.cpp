#include "orchestrator/base/rows.h"

#include <algorithm>

namespace rematch::base {

const RankRows* find_rank(const std::vector<RankRows>& ranks, std::int64_t rank) {
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const RankRows& rows) { return rows.rank == rank; });
  return found == ranks.end() ? nullptr : &*found;
}

const ArmRow* find_arm(const StudyPlan& plan, const std::string& arm) {
  const auto found = std::find_if(plan.arms.begin(), plan.arms.end(), [&](const ArmRow& row) { return row.arm == arm; });
  return found == plan.arms.end() ? nullptr : &*found;
}

}  // namespace rematch::base

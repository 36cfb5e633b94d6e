#include "orchestrator/base/rows.h"

#include <algorithm>

namespace rematch::base {

const RankRows* find_rank(const std::vector<RankRows>& ranks, std::int64_t rank) {
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const RankRows& rows) { return rows.rank == rank; });
  return found == ranks.end() ? nullptr : &*found;
}

}  // namespace rematch::base

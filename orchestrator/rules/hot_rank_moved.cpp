#include "orchestrator/rules/hot_rank_moved.h"

#include "orchestrator/rules/moved_rank.h"

namespace rematch::rules {

std::optional<base::MovedHotRank> hot_rank_moved(const base::ArmVerdict& arm, const base::ArmVerdict& reference,
                                                 const protocol::Trial& trial) {
  const base::ArmFigures& own = *arm.figures;
  const base::ArmFigures& against = *reference.figures;
  if (own.hot.rank == against.hot.rank) return std::nullopt;
  const auto in_both = [&](std::int64_t rank) { return rank_in_both_arms(trial, rank, against.rank_peaks, own.rank_peaks); };
  return base::MovedHotRank{reference.arm, in_both(against.hot.rank), in_both(own.hot.rank)};
}

std::string hot_rank_moved_note(const std::string& arm, const base::MovedHotRank& moved) {
  std::string note = arm + ": the hot rank moved from " + name_of(moved.from) + " to " + name_of(moved.to) + ": " +
                     peaks_text(moved.from, moved.against, arm) + "; " + peaks_text(moved.to, moved.against, arm) + ".";
  if (is_other_stage(moved.from, moved.to))
    note +=
        " Another pipeline stage binds now: to lower the peak further, choose full:block, full:uniform or labels by what that stage holds.";
  return note;
}

}  // namespace rematch::rules

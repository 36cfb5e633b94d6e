// Rule: when another rank has the largest peak than in the arm that it is set against, the difference of the peaks is one between two
// ranks: both are given, with their peaks in both arms. In a pipeline it is the placement that decides which stage is hot. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/verdicts.h"
#include "schemas/protocol/trial.h"

namespace rematch::rules {

// Of the passing runs with the largest peak; both arms have figures and one layout. nullopt: the hot rank is the same.
std::optional<base::MovedHotRank> hot_rank_moved(const base::ArmVerdict& arm, const base::ArmVerdict& reference,
                                                 const protocol::Trial& trial);

// What moved, the peaks, and what to do about it.
std::string hot_rank_moved_note(const std::string& arm, const base::MovedHotRank& moved);

}  // namespace rematch::rules

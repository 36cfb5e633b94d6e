// The two ranks between which a hot rank or a failure moved, with what both arms say of each. Shared by hot_rank_moved and moved_failure.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/verdicts.h"
#include "schemas/protocol/trial.h"

namespace rematch::rules {

// `against` and `own` are the peaks of all ranks in the other arm and in this one.
base::RankInBothArms rank_in_both_arms(const protocol::Trial& trial, std::int64_t rank, const std::vector<base::RankPeak>& against,
                                       const std::vector<base::RankPeak>& own);

// "rank 3 (pipeline rank 3 of 4)"; the bracket with pipeline parallelism only.
std::string name_of(const base::RankInBothArms& rank);
// "rank 3 peaked at 900 bytes in [] and at 700 in full:block:1"; "-" for what was not measured.
std::string peaks_text(const base::RankInBothArms& rank, const std::string& against, const std::string& arm);

bool is_other_stage(const base::RankInBothArms& from, const base::RankInBothArms& to);

}  // namespace rematch::rules

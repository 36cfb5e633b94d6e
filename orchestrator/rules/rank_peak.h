// Rule: a rank's peak is the largest watermark of all its phases, and the binding phase is where it occurred; the hot rank of a run is
// the one with the largest allocated peak. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Over build, every step, and the step that ran out of memory. On a tie the earlier phase of a step binds.
base::RankPeak peak_of_rank(const base::RankRows& rank);
// Over build and the steps up to and including this one (0-based).
base::RankPeak peak_through_step(const base::RankRows& rank, std::int64_t step);
// The largest allocated peak of each phase that occurred.
std::map<protocol::Phase, std::int64_t> phase_peaks_bytes(const base::RankRows& rank);
std::vector<base::RankPeak> peaks_of_ranks(const base::AttemptRows& attempt);
// The lowest rank on a tie; nullopt of no ranks.
std::optional<base::RankPeak> hot_rank(const std::vector<base::RankPeak>& peaks);
// The largest peak of forward and backward on any rank.
std::optional<std::int64_t> activation_peak_bytes(const base::AttemptRows& attempt);

}  // namespace rematch::rules

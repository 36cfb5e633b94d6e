// Rule: a study's counterpart of one published peak, found on the same ranks after the same iteration. A rank that was not run is
// represented by the one of its class that was. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/rules/compare_published.h"
#include "schemas/protocol/published.h"

namespace rematch::rules {

// Rows of the ranks that `ranks` names ("rank 0", "data-parallel rank 0"), each once, by rank. Empty of any other text.
std::vector<const base::RankRows*> ranks_seen(const base::AttemptRows& attempt, const std::string& ranks);

// The largest lifetime peak of allocated bytes over these ranks after this iteration (from 1). nullopt: none of the ranks was run, or one
// did not complete the iteration.
std::optional<base::RankPeak> seen_peak(const base::AttemptRows& attempt, const std::string& ranks, std::int64_t after_iteration);

ComparedPeak compare_peak(const base::AttemptRows& attempt, const protocol::PublishedPeak& published);

// What the two attempts differ by after the iteration of this peak; `other` is the attempt of the arm `against`.
struct OwnDelta {
  std::optional<std::int64_t> bytes;
  std::optional<double> fraction;
  std::optional<std::int64_t> held_bytes;
};
OwnDelta own_delta(const base::AttemptRows& attempt, const base::AttemptRows& other, const protocol::PublishedPeak& published);

}  // namespace rematch::rules

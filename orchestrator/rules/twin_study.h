// Rule: another study of the same database that trains the same, with figures of another provenance, stands beside a predicted one: arm by
// arm, and phase by phase of the hot rank. Agreement is consistency of one program on two devices, not accuracy. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// Whether the two trials have the same model, training (number of steps aside), optimizer, layout, attention and features.
bool trains_the_same(const protocol::Trial& a, const protocol::Trial& b);

// The candidate that trains the same as `study`, with figures of `wanted` provenance, whose last attempt began last. nullptr: none.
const base::StudyRows* newest_twin(const base::StudyRows& study, const std::vector<base::StudyRows>& candidates,
                                   protocol::Provenance wanted);

struct TwinPhase {
  protocol::Phase phase = protocol::Phase::kOther;
  std::optional<std::int64_t> own_bytes;
  std::optional<std::int64_t> twin_bytes;
};

// An arm that ended well in both studies.
struct TwinArm {
  std::string arm;
  base::RankPeak own;              // of the hot rank
  base::RankPeak twin;             // of its hot rank
  std::int64_t assumed_bytes = 0;  // of each own peak: workspaces and graph pools, which the modelled device does not have
  std::vector<TwinPhase> phases;   // of the own hot rank, in both
};

std::vector<TwinArm> compare_twin(const base::StudyRows& study, const base::StudyRows& twin);

}  // namespace rematch::rules

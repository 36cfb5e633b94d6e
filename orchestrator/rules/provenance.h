// Rule: where the figures of a run or of a study come from, as its ranks said. Pure.
#pragma once

#include <optional>

#include "orchestrator/base/rows.h"

namespace rematch::rules {

// The ranks of an attempt run on one kind of device: it belongs to the group. nullopt: no rank has said it.
std::optional<protocol::Provenance> provenance_of(const base::AttemptRows& attempt);
// Of the first attempt that says it.
std::optional<protocol::Provenance> provenance_of(const base::StudyRows& study);

}  // namespace rematch::rules

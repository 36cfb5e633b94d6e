// What the parsers of the recompute section's parts share. Internal to spec.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

void refuse_unknown_members(ParseState& state, const Value& map, const std::string& path, const std::vector<std::string>& known);

// Names the candidate's arm and keeps it, unless an earlier one is the same setting: labels in another order, or labels that have no
// effect.
void add_candidate(ParseState& state, Candidate candidate, const std::string& path);

}  // namespace rematch::spec

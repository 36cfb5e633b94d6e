// Full recompute in a sweep: the settings of `recompute.full`, and the fields that belong to it alone. Internal to spec.
#pragma once

#include <string>

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

// recompute_method, recompute_num_layers and distribute_saved_activations of `map`, as written: whether they fit the rest of the setting is
// for the compatibility rules to say.
void read_full_fields(ParseState& state, const Value& map, const std::string& path, protocol::RecomputeSpec& recompute);

// A candidate an entry: a map of these fields, or in an option "uniform:1", "block:2", "uniform:1:distributed". Runs after the core
// revision is read.
void read_full_arms(ParseState& state, const Member* member);

}  // namespace rematch::spec

// The `recompute` section: the control, which must be explicit and empty, and the label sets to try against it. Internal to spec.
#pragma once

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

// Fills control, candidates and the core revision. Runs after read_model: `labels: applicable` depends on the model.
void read_recompute(ParseState& state, const Value& section);

}  // namespace rematch::spec

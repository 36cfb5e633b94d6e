// The `recompute` section: the control, which must be explicit and empty, and the label sets to try against it. Internal to spec.
#pragma once

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

// Of a sweep that names no revision of Megatron Core.
inline constexpr const char* kDefaultCoreRevision = "24bad8e6";

// Fills control, candidates and the core revision. Runs after read_model: `labels: applicable` depends on the model.
void read_recompute(ParseState& state, const Value& section);

}  // namespace rematch::spec

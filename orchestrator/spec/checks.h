// What no key can say alone: sizes that must divide each other, lengths that must suffice, and what this trainer can do. Internal to spec.
#pragma once

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

// Run after every section was read. A check is left out when a key that it needs has a problem of its own.
void check_sweep(ParseState& state);

}  // namespace rematch::spec

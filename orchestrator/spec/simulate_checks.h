// What the `simulate` section says, beside the model and the layout. Internal to spec.
#pragma once

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

// The ranks of a simulation are on meta, whatever the sweep writes; what is no device at all is refused at its place.
void take_meta_device(ParseState& state);

// Run after model and layout were read. Refused whether or not this sweep is simulated now.
void check_simulate(ParseState& state);

}  // namespace rematch::spec

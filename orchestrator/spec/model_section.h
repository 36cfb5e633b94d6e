// The `model` section: a preset or a family of the trainer's describe document, and fields laid over it. Internal to spec.
#pragma once

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

// Resolves every field of the family into spec.common.model. `section` is a map; an absent section is an empty map.
void read_model(ParseState& state, const Value& section);

}  // namespace rematch::spec

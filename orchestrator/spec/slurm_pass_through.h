// Options of sbatch and srun that a sweep passes through: any but those that have a key of their own or that rematch sets. Internal to
// spec.
#pragma once

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

void check_pass_through(ParseState& state);

}  // namespace rematch::spec

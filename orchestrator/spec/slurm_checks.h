// What the keys of `launch` that place ranks on nodes and speak to Slurm say together. Internal to spec.
#pragma once

#include "orchestrator/spec/parse_state.h"

namespace rematch::spec {

// Run after the layout was read. Resolves the nodes of a job and the ranks of a node.
void check_launch(ParseState& state);

}  // namespace rematch::spec

// Whether this trainer can carry a trial out, beyond what parse_trial checks; on every rank, before anything is begun: a trial may be run
// by hand. Failure: base::BadTrial that says what was wanted and what was found.
#pragma once

#include "runtime/rank_environment.h"
#include "schemas/protocol/trial.h"

namespace rematch::runtime {

void check_trial(const protocol::Trial& trial, const RankEnvironment& environment);

// What the labels come to in this trainer: one that Megatron Core has and no family here is refused; under full recompute none has an
// effect.
void check_labels(const protocol::RecomputeSpec& resolved);

}  // namespace rematch::runtime

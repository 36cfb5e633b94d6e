// All rules over one study -> its verdict. Called by the engine after each trial, by ingest and by report. Pure.
// A study that is not complete is judged as far as it got: trials without a conclusive attempt are counted as missing.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/rules/match.h"

namespace rematch::rules {

// kForce compares trials of different settings too; they are still listed as unmatched, and nothing is concluded from them.
base::StudyVerdict judge_study(const base::StudyRows& study, Comparison comparison = Comparison::kRefuse);

}  // namespace rematch::rules

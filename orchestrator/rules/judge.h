// All rules over one study -> its verdict. Called by the engine after each trial, by ingest and by report. Pure.
// A study that is not complete is judged as far as it got: trials without a conclusive attempt are counted as missing.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

base::StudyVerdict judge_study(const base::StudyRows& study);

}  // namespace rematch::rules

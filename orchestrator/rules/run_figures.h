// The figures of one complete attempt: peaks, steady step time, throughput. reports/METRICS.md defines each. Pure.
#pragma once

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

base::RunFigures run_figures(const base::AttemptRows& attempt);

}  // namespace rematch::rules

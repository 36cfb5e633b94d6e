// What is said beside an answer: what it is about, what it rests on, what would change it. Pure.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/verdicts.h"
#include "orchestrator/rules/time_noise.h"

namespace rematch::rules {

// Model, attention backend, layout, core revision, device and what the group changes.
std::string scope_text(const base::StudyPlan& plan, const base::GroupVerdict& group);
// Runs that passed with their Wilson interval, the time's interval or the A/A difference, the spread of the peak.
std::string confidence_text(const base::ArmVerdict& arm, const TimeNoise& noise);
// `answer` with its arm, margin and headroom arm; `arm` is that arm's verdict.
std::vector<std::string> what_would_change(const base::StudyPlan& plan, const base::StudyVerdict& verdict, const base::Answer& answer,
                                           const base::ArmVerdict& arm);

}  // namespace rematch::rules

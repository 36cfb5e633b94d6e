// Rule: how far apart the step times of two arms of a group must be to be told apart. From the intervals of the fit where there is one,
// else from the two controls of each block, else from how far the repeats of an arm lie apart. Pure.
#pragma once

#include <limits>
#include <string_view>

#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

enum class NoiseBasis { kIntervals, kControlPairs, kRepeats, kNone };

struct TimeNoise {
  NoiseBasis basis = NoiseBasis::kNone;
  double fraction = std::numeric_limits<double>::infinity();  // of a step time; infinite: nothing is known, times decide nothing
};

// `verdict` with runs, arms and groups. Of two candidates: an interval against a control that ran twice a block is widened by sqrt(4/3),
// since the difference of two candidates has 2/n of the variance of a run where that to the control has 1.5/n.
TimeNoise time_noise(const base::StudyVerdict& verdict, const base::GroupVerdict& group);

std::string_view to_string(NoiseBasis basis);  // "the A/A difference", ...

}  // namespace rematch::rules

#include "orchestrator/store/kept_rows.h"

#include "orchestrator/base/attributed_peak.h"

namespace rematch::store {

void drop_what_is_not_kept(base::AttemptRows& attempt) {
  for (base::RankRows& rank : attempt.ranks) {
    const protocol::StepRecord* hottest = base::hottest_step(rank);
    for (protocol::StepRecord& step : rank.steps) {
      if (&step != hottest) step.peak_attribution.reset();
      if (&step == &rank.steps.back()) continue;
      step.communication.clear();
      step.work.clear();
    }
  }
}

}  // namespace rematch::store

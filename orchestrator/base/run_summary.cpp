#include "orchestrator/base/run_summary.h"

#include <algorithm>

namespace rematch::base {

RunSummary summary_of(const RunVerdict& run) {
  RunSummary summary{.trial_id = run.trial_id, .arm = run.arm, .attempt = run.attempt, .outcome = run.outcome};
  if (run.failure) summary.reason = run.failure->message;
  for (const Shortfall& shortfall : run.shortfalls)
    summary.reason += (summary.reason.empty() ? "" : "; ") + shortfall.rule + ": " + shortfall.message;
  if (!run.figures) return summary;
  summary.peak_allocated_bytes = run.figures->hot.allocated_bytes;
  summary.peak_reserved_bytes = run.figures->hot.reserved_bytes;
  summary.activation_peak_bytes = run.figures->activation_peak_bytes;
  summary.step_time_ns = run.figures->median_step_time_ns;
  return summary;
}

std::optional<Outcome> parse_outcome(std::string_view text) {
  const auto* const found =
      std::find_if(kAllOutcomes.begin(), kAllOutcomes.end(), [&](Outcome outcome) { return to_string(outcome) == text; });
  return found == kAllOutcomes.end() ? std::nullopt : std::optional(*found);
}

}  // namespace rematch::base

// What the database keeps of the verdict of one attempt: enough to set runs against each other without their records. Values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/verdicts.h"

namespace rematch::base {

struct RunSummary {
  std::string trial_id;
  std::string arm;
  std::int64_t attempt = 1;
  Outcome outcome = Outcome::kNotRun;
  std::string reason;  // why it is no pass
  // Of a pass only. Bytes are of the hot rank.
  std::optional<std::int64_t> peak_allocated_bytes;
  std::optional<std::int64_t> peak_reserved_bytes;
  std::optional<std::int64_t> activation_peak_bytes;
  std::optional<double> step_time_ns;  // median of the steady steps
};

RunSummary summary_of(const RunVerdict& run);

// An arm, as the plan has it, with what was judged of it.
struct ArmSummary {
  std::string arm;
  std::string variation;  // as ArmRow's
  Outcome outcome = Outcome::kNotRun;
  std::string reason;
};

// What was judged of a study, or of some arms of it, without records.
struct StudySummaries {
  std::vector<ArmSummary> arms;
  std::vector<RunSummary> runs;      // as the trials ran, then by attempt
  std::vector<Unmatched> unmatched;  // runs in another setting than the others of their group
};

// nullopt: no such outcome.
std::optional<Outcome> parse_outcome(std::string_view text);

}  // namespace rematch::base

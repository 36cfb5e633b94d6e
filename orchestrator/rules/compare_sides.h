// Rule: what an arm or a trial changes against another one, of the same study or of another: memory by the exact difference of the hot
// ranks' peaks, time by Welch's interval of the mean log step times, both only where the recorded fields match and the figures are of one
// provenance. See METRICS.md, "Two studies". Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/rows.h"
#include "orchestrator/base/run_summary.h"
#include "orchestrator/base/verdicts.h"

namespace rematch::rules {

// One arm of a study, or one trial of it.
struct ComparedSide {
  std::string name;  // arm, or trial id
  std::string arm;
  std::string variation;
  base::Outcome outcome = base::Outcome::kNotRun;
  std::string reason;
  std::vector<base::RunSummary> runs;         // those that count
  std::vector<base::Unmatched> unmatched;     // of them, within their own study
  const base::AttemptRows* record = nullptr;  // of the run that stands for them; null: none has ended. Borrowed
};

// Of each trial the last attempt that is conclusive.
std::vector<base::RunSummary> runs_that_count(const std::vector<base::RunSummary>& runs);
// The first that passed, else the first; nullptr: there is none.
const base::RunSummary* run_that_stands(const std::vector<base::RunSummary>& runs);

struct SideFigures {
  std::int64_t num_runs = 0;  // that count
  std::int64_t num_passed = 0;
  std::optional<std::int64_t> peak_allocated_bytes;  // the figures of the passing run with the largest allocated peak
  std::optional<std::int64_t> peak_reserved_bytes;
  std::optional<std::int64_t> activation_peak_bytes;
  std::optional<double> step_time_ns;  // median over passing runs of their medians
};
SideFigures side_figures(const ComparedSide& side);

// ratio - 1 of the geometric means of step times.
struct TimeDifference {
  double fraction = 0;
  std::optional<double> low;  // Welch, 95 %; nullopt: fewer than two runs of either
  std::optional<double> high;
  std::optional<base::TimeWord> word;  // nullopt as low
};

struct SideComparison {
  std::string name;
  std::string against_name;
  base::Outcome outcome = base::Outcome::kNotRun;
  base::Outcome against_outcome = base::Outcome::kNotRun;
  std::string reason;  // why this side is no pass
  SideFigures own;
  SideFigures against;
  std::optional<protocol::Provenance> provenance;
  std::optional<protocol::Provenance> against_provenance;
  std::vector<base::Unmatched> unmatched;     // why it is refused, or what was forced
  std::vector<base::FieldDifference> varied;  // that were named as meant to differ
  std::string refusal;                        // empty: compared, where both have figures
  std::optional<base::MemoryVerdict> memory;  // with the difference of peaks; of a prediction none
  std::optional<TimeDifference> time;
  bool is_compared() const { return refusal.empty(); }
};

enum class Matching { kWanted, kForced };
struct ComparisonTerms {
  std::vector<std::string> varied;  // fields, or objects with all that is in them, that are meant to differ
  Matching matching = Matching::kWanted;
  double smallest_effect = 0.02;  // fraction, of the side that is set against
  std::int64_t num_compared = 1;  // pairs in one answer
};

// Of two provenances nothing is compared, whatever the terms.
SideComparison compare_sides(const ComparedSide& own, const ComparedSide& against, const ComparisonTerms& terms);

// `field` is `name`, or stands in the object `name`: "machine" covers "machine.driver_version".
bool is_covered(const std::string& field, const std::string& name);

}  // namespace rematch::rules

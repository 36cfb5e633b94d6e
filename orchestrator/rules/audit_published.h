// Rule: what a published table says of itself: differences recomputed from its figures, work per step, units, rounding, what is unmatched,
// and what follows from the table at all. reports/METRICS.md, "Audit of published tables", defines each figure. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/warnings.h"
#include "schemas/protocol/published.h"

namespace rematch::rules {

enum class AuditSeverity { kConfirmed, kNote, kNotCheckable, kWarning, kContradicted };
std::string_view to_string(AuditSeverity severity);  // "confirmed", "note", "not checkable", "warning", "contradicted"

struct AuditFinding {
  std::string check;  // "deltas", "work", "spread", "units", "rounding", "control", "matching", "repeats", "floor"; warning_of has its page
  std::string subject;  // a row, several, or the column or field that it is about
  AuditSeverity severity = AuditSeverity::kNote;
  std::string published;   // as printed; empty: nothing is
  std::string recomputed;  // empty: nothing was
  std::string words;
};

// The identifier of the finding's check, which `explain` has a page of: "audit-rounding". Of every severity the same.
// Throws std::logic_error where the table of warnings has none.
base::WarningId warning_of(const AuditFinding& finding);

// One printed difference against its two figures. A difference that is printed as a percentage and in bytes is two of these.
struct AuditedDelta {
  std::string arm;
  std::string against;
  std::string of;                                        // "peak_allocated" | "step_time_ms"
  std::optional<double> published_fraction;              // less is negative
  std::optional<std::int64_t> published_bytes;           // without a sign
  std::optional<double> recomputed_fraction;             // of the figures as printed
  std::optional<std::int64_t> recomputed_bytes;          // without a sign
  std::optional<double> low;                             // what the rounding of the two figures leaves open, in the unit of the difference:
  std::optional<double> high;                            // a fraction, or bytes
  AuditSeverity verdict = AuditSeverity::kNotCheckable;  // confirmed, contradicted, not checkable
  std::string reason;                                    // of the latter two
};

// The labels that have a region in the table's model.
using ModelLabels = std::vector<std::string>;

// Floating point operations of one iteration that a study of the same model and batch counted from shapes.
struct WorkByFormula {
  double flops_per_iteration = 0;
  std::string study;  // where it was counted
};

// Throughput times step time, over all GPUs.
struct AuditedWork {
  std::string arm;
  double step_time_ns = 0;
  double tflops_per_gpu = 0;  // TFLOP/s
  double work_flops = 0;      // of an iteration
  double low_flops = 0;       // by rounding
  double high_flops = 0;
  std::optional<std::int64_t> num_iterations;     // averaged
  std::optional<double> excess_fraction;          // over the formula, else over the least row
  std::optional<double> spread_fraction;          // of step times within the run, standard deviation / mean; null: not known
  std::optional<double> spread_low_fraction;      // its bounds, by rounding and by what the formula may be off
  std::optional<double> spread_high_fraction;     // null: none is known
  std::optional<double> standard_error_fraction;  // of the mean step time; of spread_fraction
};

enum class TimeStands { kNotToldApart, kBeyondLeastSpread, kBeyondSpread, kWithinSpreadBounds, kSpreadNotKnown };
std::string_view to_string(TimeStands stands);

struct AuditedTime {
  std::string arm;
  std::string against;
  double fraction = 0;        // of the step time of `against`
  std::optional<double> low;  // 95 %, of the spread within the two runs alone: of its least where that decides, else of its most
  std::optional<double> high;
  TimeStands stands = TimeStands::kSpreadNotKnown;
};

enum class PairBasis { kNone, kControl, kReference, kAfterIteration };

// A row beside the one that it may be set against, if there is one.
struct AuditedPair {
  std::string arm;
  std::string against;        // empty: none
  std::string no_comparison;  // why there are no numbers
  PairBasis basis = PairBasis::kNone;
  std::optional<std::int64_t> after_iteration;  // of kAfterIteration: the last that both completed
  bool is_view_stated = true;                   // false: the peaks are of ranks or after an iteration that neither row states
  std::optional<std::int64_t> peak_delta_bytes;
  std::optional<double> peak_fraction;
  std::optional<double> time_fraction;
  std::optional<double> tflops_fraction;
};

// "control", "reference, not control" or "after iteration 1, not a pass"; "; view not stated" behind it where it is not. Empty: none.
std::string basis_text(const AuditedPair& pair);

struct PublishedAudit {
  protocol::Published published;
  std::optional<WorkByFormula> formula;
  std::optional<ModelLabels> model_labels;  // null: not known
  std::vector<AuditedDelta> deltas;
  std::vector<AuditedWork> work;         // of rows with throughput and step time
  bool spread_is_least = false;          // without a formula that fits: the spread of each row is at least what is shown
  std::vector<AuditedTime> times;        // each row against the control, else the reference, and against what the source names
  std::vector<AuditedPair> pairs;        // of every row but the control
  std::vector<AuditFinding> findings;    // by check
  std::vector<std::string> supports;     // what the table can say, in sentences
  std::vector<std::string> leaves_open;  // what it cannot
};

PublishedAudit audit_published(const protocol::Published& published, const std::optional<WorkByFormula>& formula = std::nullopt,
                               const std::optional<ModelLabels>& model_labels = std::nullopt);

std::int64_t num_contradicted(const PublishedAudit& audit);  // findings

}  // namespace rematch::rules

// Gates: bounds that a comparison or a study must keep, for scripts that stop at a regression. "step_time>2%" fires when the bound is
// passed. Parsing and judging; pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"
#include "orchestrator/rules/compare_sides.h"
#include "orchestrator/rules/gate_figures.h"

namespace rematch::rules {

enum class GateMetric {
  kRegression,  // step time or allocated peak, whichever is worse
  kStepTime,
  kPeakAllocated,
  kPeakReserved,
  kActivationPeak,
  kOutcome,       // an arm that passed no longer does, or one that was borderline is neither
  kUndecided,     // a step time without a word
  kMargin,        // budget less the answer's allocated peak
  kDrift,         // of step times over the places in a block
  kAaDifference,  // of the two controls of a block
};

enum class GateSense { kNone, kAbove, kBelow };                  // when it fires
enum class GateUnit { kNone, kFraction, kBytes, kNanoseconds };  // of the bound

struct Gate {
  std::string text;  // as given
  GateMetric metric = GateMetric::kRegression;
  GateSense sense = GateSense::kNone;
  double bound = 0;  // in the unit's base: 0.02, bytes, ns
  GateUnit unit = GateUnit::kNone;
};

// What a gate is judged on: differences of two sides, or the figures of one study.
enum class GateUse { kComparison, kStudy };

// METRIC, or METRIC>NUMBER UNIT, or METRIC<NUMBER UNIT: "regression>2%", "peak_allocated>100MB", "outcome". The error names the metrics
// that this use has, with their units.
base::Result<Gate> parse_gate(const std::string& text, GateUse use);

enum class GateState {
  kUndecided,  // an interval holds the bound
  kFired,      // also when there is nothing that it could be judged by
};
struct GateFinding {
  GateState state = GateState::kFired;
  std::string message;  // the gate, the arm, the figure, the bound
};

// Gates that are kept say nothing. Of time the end of the interval that is nearer to the bound must pass it; where there is no interval the
// difference itself, and the message says so. A figure that the other side of a pair has and its own side has not fires, too.
std::vector<GateFinding> judge_gates(const std::vector<Gate>& gates, const std::vector<SideComparison>& comparisons);
std::vector<GateFinding> judge_gates(const std::vector<Gate>& gates, const GateFigures& figures);

}  // namespace rematch::rules

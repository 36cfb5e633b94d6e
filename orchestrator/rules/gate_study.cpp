#include <cmath>

#include "orchestrator/rules/gate.h"
#include "orchestrator/rules/gate_words.h"

namespace rematch::rules {

namespace {

using Found = std::optional<GateFinding>;

GateFinding fired(const Gate& gate, const std::string& what) { return {GateState::kFired, "gate " + gate.text + ": " + what}; }

GateFinding nothing(const Gate& gate, const std::string& why) { return fired(gate, "nothing to judge it by: " + why); }

template <typename T>
Found judge_figure(const Gate& gate, const char* name, const std::optional<T>& figure, const GateFigures& figures) {
  if (!figures.arm) return nothing(gate, "the study's answer names no arm");
  if (!figure) return nothing(gate, *figures.arm + " has no " + name);
  const auto value = static_cast<double>(*figure);
  if (!is_passed(gate, value)) return std::nullopt;
  return fired(gate, *figures.arm + ", the answer: " + name + " " + gate_figure_text(value, gate.unit));
}

Found judge_margin(const Gate& gate, const GateFigures& figures) {
  if (!figures.margin_bytes) return nothing(gate, figures.arm ? "the study has no budget" : "the study's answer names no arm");
  return judge_figure(gate, "margin to the budget", figures.margin_bytes, figures);
}

Found judge_drift(const Gate& gate, const GateFigures& figures) {
  if (!figures.drift_p_value) return nothing(gate, "too few runs to fit a drift of step times");
  if (!figures.drift_flagged) return std::nullopt;
  return fired(gate, "step times drift by " + gate_difference_text(std::expm1(*figures.drift_per_slot), GateUnit::kFraction) +
                         " from one place in a block to the next");
}

Found judge_aa(const Gate& gate, const GateFigures& figures) {
  if (!figures.aa_difference_fraction) return nothing(gate, "no block has two controls with step times");
  if (!is_passed(gate, std::abs(*figures.aa_difference_fraction))) return std::nullopt;
  return fired(gate, "two controls of one block differ by " + gate_difference_text(*figures.aa_difference_fraction, GateUnit::kFraction));
}

Found judge_undecided(const Gate& gate, const GateFigures& figures) {
  if (figures.num_timed_arms == 0) return nothing(gate, "no arm's step time has an interval");
  if (figures.undecided_arms.empty()) return std::nullopt;
  std::string names;
  for (const std::string& arm : figures.undecided_arms) names += (names.empty() ? "" : ", ") + arm;
  return fired(gate, "the step times of " + names + " are undecided");
}

Found judge(const Gate& gate, const GateFigures& figures) {
  switch (gate.metric) {
    case GateMetric::kStepTime: return judge_figure(gate, "step time", figures.step_time_ns, figures);
    case GateMetric::kPeakAllocated: return judge_figure(gate, "allocated peak", figures.peak_allocated_bytes, figures);
    case GateMetric::kPeakReserved: return judge_figure(gate, "reserved peak", figures.peak_reserved_bytes, figures);
    case GateMetric::kActivationPeak: return judge_figure(gate, "activation peak", figures.activation_peak_bytes, figures);
    case GateMetric::kMargin: return judge_margin(gate, figures);
    case GateMetric::kDrift: return judge_drift(gate, figures);
    case GateMetric::kAaDifference: return judge_aa(gate, figures);
    case GateMetric::kUndecided: return judge_undecided(gate, figures);
    case GateMetric::kRegression:
    case GateMetric::kOutcome: break;
  }
  return nothing(gate, "it is a gate on comparisons");
}

}  // namespace

std::vector<GateFinding> judge_gates(const std::vector<Gate>& gates, const GateFigures& figures) {
  std::vector<GateFinding> findings;
  for (const Gate& gate : gates)
    if (Found found = judge(gate, figures)) findings.push_back(*std::move(found));
  return findings;
}

}  // namespace rematch::rules

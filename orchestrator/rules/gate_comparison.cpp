#include <optional>

#include "orchestrator/rules/gate.h"
#include "orchestrator/rules/gate_words.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::rules {

namespace {

using Maybe = std::optional<std::int64_t>;

// What one gate says of one pair.
struct Judgement {
  bool judged = false;  // there was a figure, or it was lost
  std::vector<GateFinding> findings;

  void add(Judgement other) {
    judged = judged || other.judged;
    for (GateFinding& finding : other.findings) findings.push_back(std::move(finding));
  }
};

std::string beginning(const Gate& gate, const SideComparison& pair) {
  return "gate " + gate.text + ": " + pair.name + (pair.name == pair.against_name ? "" : " against " + pair.against_name) + ": ";
}

GateFinding finding(GateState state, const Gate& gate, const SideComparison& pair, const std::string& what) {
  return {state, beginning(gate, pair) + what};
}

// The side that is set against has the figure, and this one no more: no bound would see it.
Judgement lost(const Gate& gate, const SideComparison& pair, const std::string& figure) {
  return {true,
          {finding(GateState::kFired, gate, pair,
                   "had a figure of its " + figure + " and has none now: it is " + std::string(to_string(pair.outcome)) +
                       (pair.reason.empty() ? "" : ": " + pair.reason))}};
}

bool has_lost_times(const SideComparison& pair) {
  return pair.is_compared() && pair.against.step_time_ns.has_value() && !pair.own.step_time_ns.has_value();
}

Judgement judge_bytes(const Gate& gate, const SideComparison& pair, const char* figure, Maybe SideFigures::*member) {
  const Maybe& own = pair.own.*member;
  const Maybe& other = pair.against.*member;
  if (!pair.is_compared() || !other) return {};
  if (!own) return lost(gate, pair, figure);
  const std::optional<double> value = gate.unit == GateUnit::kFraction
                                          ? stats::difference_fraction(static_cast<double>(*own), static_cast<double>(*other))
                                          : std::optional(static_cast<double>(*own - *other));
  if (!value) return {};
  if (!is_passed(gate, *value)) return {true, {}};
  return {true, {finding(GateState::kFired, gate, pair, std::string(figure) + " " + gate_difference_text(*value, gate.unit))}};
}

Judgement judge_time(const Gate& gate, const SideComparison& pair) {
  if (has_lost_times(pair)) return lost(gate, pair, "step time");
  if (!pair.time) return {};
  const TimeDifference& time = *pair.time;
  const std::string difference = "step time " + gate_difference_text(time.fraction, GateUnit::kFraction);
  if (!time.low) {
    if (!is_passed(gate, time.fraction)) return {true, {}};
    return {true, {finding(GateState::kFired, gate, pair, difference + "; no interval: too few runs")}};
  }
  const std::string with_interval = difference + " [" + gate_difference_text(*time.low, GateUnit::kFraction) + ", " +
                                    gate_difference_text(*time.high, GateUnit::kFraction) + "]";
  const bool low_passes = is_passed(gate, *time.low);
  const bool high_passes = is_passed(gate, *time.high);
  if (low_passes && high_passes) return {true, {finding(GateState::kFired, gate, pair, with_interval)}};
  if (!low_passes && !high_passes) return {true, {}};
  return {true, {finding(GateState::kUndecided, gate, pair, with_interval + " holds the bound: undecided; more blocks would decide it")}};
}

// A pass is better than a borderline outcome, and that than any other.
int standing_of(base::Outcome outcome) { return outcome == base::Outcome::kPass ? 2 : outcome == base::Outcome::kBorderline ? 1 : 0; }

Judgement judge_outcome(const Gate& gate, const SideComparison& pair) {
  if (standing_of(pair.outcome) >= standing_of(pair.against_outcome)) return {true, {}};
  return {true,
          {finding(GateState::kFired, gate, pair,
                   (pair.against_outcome == base::Outcome::kPass ? "passed and is now " : "was borderline and is now ") +
                       std::string(to_string(pair.outcome)) + (pair.reason.empty() ? "" : ": " + pair.reason))}};
}

Judgement judge_undecided(const Gate& gate, const SideComparison& pair) {
  if (has_lost_times(pair)) return lost(gate, pair, "step time");
  if (!pair.time) return {};
  if (pair.time->word && *pair.time->word != base::TimeWord::kUndecided) return {true, {}};
  return {true, {finding(GateState::kFired, gate, pair, pair.time->word ? "the step time is undecided" : "the step time has no interval")}};
}

Judgement judge_pair(const Gate& gate, const SideComparison& pair) {
  switch (gate.metric) {
    case GateMetric::kRegression: {
      Judgement both = judge_time(gate, pair);
      both.add(judge_bytes(gate, pair, "allocated peak", &SideFigures::peak_allocated_bytes));
      return both;
    }
    case GateMetric::kStepTime: return judge_time(gate, pair);
    case GateMetric::kPeakAllocated: return judge_bytes(gate, pair, "allocated peak", &SideFigures::peak_allocated_bytes);
    case GateMetric::kPeakReserved: return judge_bytes(gate, pair, "reserved peak", &SideFigures::peak_reserved_bytes);
    case GateMetric::kActivationPeak: return judge_bytes(gate, pair, "activation peak", &SideFigures::activation_peak_bytes);
    case GateMetric::kOutcome: return judge_outcome(gate, pair);
    case GateMetric::kUndecided: return judge_undecided(gate, pair);
    case GateMetric::kMargin:
    case GateMetric::kDrift:
    case GateMetric::kAaDifference: break;
  }
  return {};
}

}  // namespace

std::vector<GateFinding> judge_gates(const std::vector<Gate>& gates, const std::vector<SideComparison>& comparisons) {
  std::vector<GateFinding> findings;
  for (const Gate& gate : gates) {
    Judgement all;
    for (const SideComparison& pair : comparisons) all.add(judge_pair(gate, pair));
    if (!all.judged)
      all.findings.push_back({GateState::kFired, "gate " + gate.text + ": nothing to judge it by: no pair has this figure on both sides"});
    for (GateFinding& each : all.findings) findings.push_back(std::move(each));
  }
  return findings;
}

}  // namespace rematch::rules

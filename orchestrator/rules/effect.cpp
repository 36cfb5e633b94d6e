#include "orchestrator/rules/effect.h"

#include "orchestrator/rules/attribution.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::rules {

namespace {

std::optional<double> fraction(std::int64_t value, std::int64_t base) {
  return stats::difference_fraction(static_cast<double>(value), static_cast<double>(base));
}

}  // namespace

base::Effect effect_of(const base::ArmVerdict& arm, const base::ArmVerdict& reference) {
  const base::ArmFigures& mine = *arm.figures;
  const base::ArmFigures& theirs = *reference.figures;
  base::Effect effect;
  effect.against = reference.arm;
  effect.against_control = reference.is_control;
  effect.peak_delta_bytes = mine.hot.allocated_bytes - theirs.hot.allocated_bytes;
  effect.peak_delta_fraction = fraction(mine.hot.allocated_bytes, theirs.hot.allocated_bytes);
  if (mine.activation_peak_bytes && theirs.activation_peak_bytes) {
    effect.activation_delta_bytes = *mine.activation_peak_bytes - *theirs.activation_peak_bytes;
    effect.activation_delta_fraction = fraction(*mine.activation_peak_bytes, *theirs.activation_peak_bytes);
  }
  effect.time_delta_fraction = stats::difference_fraction(mine.median_step_time_ns, theirs.median_step_time_ns);
  if (mine.estimate && theirs.estimate)
    effect.estimated_time_delta_fraction = stats::difference_fraction(mine.estimate->time_ns, theirs.estimate->time_ns);
  effect.censored = mine.hot.binding_phase && no_label_lowers(*mine.hot.binding_phase);
  return effect;
}

}  // namespace rematch::rules

#include "orchestrator/report/verdict_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace rematch::report {

namespace {

template <typename... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 200> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

}  // namespace

std::string time_text(const base::TimeVerdict& verdict) {
  std::string text = printed("%+.1f %% [%+.1f, %+.1f] ", 100 * verdict.fraction, 100 * verdict.low, 100 * verdict.high) +
                     std::string(to_string(verdict.word));
  if (verdict.blocks_needed) text += ", wants " + std::to_string(*verdict.blocks_needed) + " blocks";
  return text;
}

std::string fit_text(const base::GroupVerdict& group) {
  const base::TimeFit& fit = *group.fit;
  std::string text = printed("noise of a run %.2f %%, %lld runs, %lld degrees of freedom, critical value %.2f (%.1f %%), ",
                             100 * fit.residual_sd, static_cast<long long>(fit.num_runs), static_cast<long long>(fit.degrees_of_freedom),
                             fit.critical_value, 100 * fit.confidence) +
                     printed("drift %+.3f %% a slot (p = %.2g)", 100 * std::expm1(fit.drift_per_slot), fit.drift_p_value);
  if (const auto floor = largest_aa_fraction(group)) text += printed(", A/A floor %.2f %%", 100 * std::abs(*floor));
  return text;
}

double nine_digits(double value) { return std::strtod(printed("%.9g", value).c_str(), nullptr); }

std::optional<double> largest_aa_fraction(const base::GroupVerdict& group) {
  std::optional<double> largest;
  for (const base::ControlPair& pair : group.control_pairs)
    if (!largest || std::abs(pair.time_difference_fraction) > std::abs(*largest)) largest = pair.time_difference_fraction;
  return largest;
}

}  // namespace rematch::report

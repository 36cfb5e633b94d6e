// Verdicts on step times in words, for cells and facts that people read; data has each number in a column of its own. Pure.
#pragma once

#include <optional>
#include <string>

#include "orchestrator/base/verdicts.h"

namespace rematch::report {

// "+3.1 % [+1.9, +4.3] slower", "+1.0 % [-0.6, +2.6] undecided, wants 5 blocks".
std::string time_text(const base::TimeVerdict& verdict);
// What the intervals of a group rest on: noise of a run, runs, degrees of freedom, critical value, drift, A/A floor. The group has a fit.
std::string fit_text(const base::GroupVerdict& group);
// What a quadrature gives has some seven digits that mean something, and digits beyond nine that differ between machines.
double nine_digits(double value);
// Of the group's control pairs, by absolute value: the A/A floor. nullopt: there are none.
std::optional<double> largest_aa_fraction(const base::GroupVerdict& group);

}  // namespace rematch::report

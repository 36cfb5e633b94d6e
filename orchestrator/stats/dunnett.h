// Simultaneous comparisons of several arms with one: Dunnett's two-sided critical values (J. Am. Stat. Assoc. 50, 1955, 1096) for any
// design. With the t statistics' correlations of the form l[i] l[j] - equal numbers of runs, any blocks, no further term - the double
// integral is exact; otherwise l is the least-squares fit of that form to the correlations (Hsu, J. Comput. Graph. Stat. 1, 1992, 151),
// which errs by less than 0.01 in the critical value for the designs of a study. Pure; safe from several threads.
#pragma once

#include <span>
#include <vector>

#include "orchestrator/stats/matrix.h"

namespace rematch::stats {

// The l of a correlation matrix. Exact when there is such an l; of a single comparison 0.
std::vector<double> one_factor_loadings(const Matrix& correlation);

// The probability that at least one of the t statistics exceeds `critical_value` in absolute value when no arm differs: absolute error
// below 1e-6. 0 < `degrees_of_freedom` <= 10,000.
double any_exceeds(std::span<const double> loadings, double degrees_of_freedom, double critical_value);

// The value that any_exceeds() gives the probability 1 - confidence: relative error below 1e-6, of more than 10,000 degrees of freedom
// below 2e-4. 0 < confidence < 1; at least one loading.
double dunnett_critical_value(std::span<const double> loadings, double degrees_of_freedom, double confidence);

}  // namespace rematch::stats

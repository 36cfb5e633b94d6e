// Student's t: what tests and intervals of single differences use. Pure.
#pragma once

namespace rematch::stats {

// Two-sided: |t| exceeds the value with probability 1 - confidence. `degrees_of_freedom` > 0, 0 < confidence < 1.
double students_critical_value(double degrees_of_freedom, double confidence);
// The probability of a statistic at least as far from 0.
double students_p_value(double statistic, double degrees_of_freedom);

}  // namespace rematch::stats

#include "orchestrator/stats/students.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace rematch::stats {

double students_critical_value(double degrees_of_freedom, double confidence) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(degrees_of_freedom), (1 - confidence) / 2));
}

double students_p_value(double statistic, double degrees_of_freedom) {
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(degrees_of_freedom), std::abs(statistic)));
}

}  // namespace rematch::stats

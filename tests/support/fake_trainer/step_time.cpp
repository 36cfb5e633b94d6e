#include "tests/support/fake_trainer/step_time.h"

#include <cmath>
#include <numbers>
#include <random>
#include <string>

namespace rematch::tests {

namespace {

constexpr double kRunNoise = 0.008;
constexpr double kStepNoise = 0.001;

// Box and Muller, on an engine whose numbers the standard fixes.
double gauss(const std::string& seed_text) {
  std::seed_seq seeds(seed_text.begin(), seed_text.end());
  std::mt19937_64 random(seeds);
  const double u = (static_cast<double>(random() >> 11) + 0.5) * 0x1p-53;
  const double v = static_cast<double>(random() >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace

std::int64_t step_time_ns(const Behaviour& behaviour, const protocol::Trial& trial, std::int64_t step) {
  double time_ns = static_cast<double>(behaviour.step_time_us) * 1000;
  if (behaviour.noise) {
    const std::string key = std::to_string(*behaviour.noise) + "/" + trial.trial_id;
    time_ns *= std::exp(kRunNoise * gauss(key) + kStepNoise * gauss(key + "/" + std::to_string(step)));
  }
  return std::llround(time_ns);
}

}  // namespace rematch::tests

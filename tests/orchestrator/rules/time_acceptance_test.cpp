// What the rules on step times promise, on seeded studies whose truth is known: the plan's own orders, the judge's own fit and words.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <future>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/plan/order.h"
#include "orchestrator/rules/time_verdicts.h"
#include "orchestrator/stats/dunnett.h"

namespace rematch::rules {
namespace {

constexpr std::size_t kNumCandidates = 6;
constexpr double kNoise = 0.008;      // of a run, sd of the log step time
constexpr double kBlockNoise = 0.02;  // of the level of a block
constexpr double kAnyEffect = 1e-9;   // smallest effect with which every interval that excludes 0 gets its word
constexpr double kSmallestEffect = 0.02;
constexpr double kDriftOverBlock = 0.03;

using Effects = std::array<double, kNumCandidates + 1>;  // of the log step time, by arm; the control first
constexpr Effects kNone{};

class Gauss {
 public:
  explicit Gauss(std::uint64_t seed) : random_(seed) {}
  double operator()() {  // Box and Muller
    const double u = (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(random_() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }

 private:
  std::mt19937_64 random_;
};

// A study that has been run: where its runs stood, and their noise.
struct Simulated {
  std::vector<stats::RunPlace> places;
  std::vector<double> noise;  // of the log step time, the block's level in it

  // `drift` is of the log step time from the first place of a block to the last.
  std::vector<double> step_times_ns(const Effects& effects, double drift) const {
    std::vector<double> times;
    for (std::size_t i = 0; i < places.size(); ++i)
      times.push_back(10e6 * std::exp(noise[i] + effects[places[i].arm] + drift * places[i].position / (kNumCandidates + 1)));
    return times;
  }
};

// Blocks from `first_block` on; only arms that `is_wanted` says run.
template <typename Wanted>
void run_blocks(const std::vector<std::vector<std::size_t>>& orders, std::int64_t first_block, std::int64_t end, Wanted is_wanted,
                Gauss& gauss, Simulated& study) {
  for (std::int64_t block = first_block; block < end; ++block) {
    const double level = kBlockNoise * gauss();
    double position = 0;
    for (std::size_t arm : orders[static_cast<std::size_t>(block)]) {
      if (!is_wanted(arm)) continue;
      study.places.push_back({arm, block, position++});
      study.noise.push_back(level + kNoise * gauss());
    }
  }
}

Simulated run_study(const std::vector<std::vector<std::size_t>>& orders, std::uint64_t seed) {
  Gauss gauss(seed);
  Simulated study;
  run_blocks(
      orders, 0, static_cast<std::int64_t>(orders.size()), [](std::size_t) { return true; }, gauss, study);
  return study;
}

bool has_alarm(const JudgedTimes& judged) {
  for (const base::TimeVerdict& arm : judged.arms)
    if (arm.word == base::TimeWord::kFaster || arm.word == base::TimeWord::kSlower) return true;
  return false;
}

struct Counts {
  std::map<std::string, double> of;
  void add(const std::string& name, double number = 1) { of[name] += number; }
};

// Sums what `simulate` counts over all seeds, by two threads.
template <typename Simulate>
Counts over_seeds(std::uint64_t num_studies, Simulate simulate) {
  const auto half = [&](std::uint64_t first) {
    Counts counts;
    for (std::uint64_t seed = first; seed < num_studies; seed += 2) simulate(seed, counts);
    return counts;
  };
  auto odd = std::async(std::launch::async, half, 1);
  Counts sum = half(0);
  for (const auto& [name, number] : odd.get().of) sum.add(name, number);
  for (auto& [name, number] : sum.of) number /= static_cast<double>(num_studies);
  return sum;
}

constexpr Effects kOneSlower = {0, 0.0198, 0, 0, 0, 0, 0};  // log(1.02)

// False alarms and power at 5 blocks, with and without a drift.
void count_study(const JudgedTimes& null, const JudgedTimes& slower, const std::string& suffix, Counts& counts) {
  if (has_alarm(null)) counts.add("alarm" + suffix);
  if (slower.arms.front().word == base::TimeWord::kSlower) counts.add("found" + suffix);
  counts.add("half_width" + suffix, (null.arms.front().high - null.arms.front().low) / 2);
}

Counts simulate_five_blocks(std::uint64_t num_studies) {
  return over_seeds(num_studies, [](std::uint64_t seed, Counts& counts) {
    const Simulated study = run_study(plan::block_orders(5, kNumCandidates, seed), seed);
    const stats::BlockDesign design(study.places, kNumCandidates + 1, confidence_of_look({}));
    for (double drift : {0.0, kDriftOverBlock})
      count_study(judge_times(design, study.step_times_ns(kNone, drift), kAnyEffect),
                  judge_times(design, study.step_times_ns(kOneSlower, drift), kSmallestEffect), drift > 0 ? " under drift" : "", counts);
  });
}

// The bounds of acceptance, as sentences of those that are broken.
std::vector<std::string> broken_bounds(const Counts& counts) {
  std::vector<std::string> broken;
  const auto want = [&](const std::string& name, double low, double high) {
    const auto found = counts.of.find(name);
    const double value = found == counts.of.end() ? 0 : found->second;
    if (value < low || value > high) broken.push_back(name + " " + std::to_string(value));
  };
  want("alarm", 0.043, 0.057);
  want("found", 0.93, 1);
  want("alarm under drift", 0, 0.057);
  want("found under drift", 0.9, 1);
  return broken;
}

TEST(TimeAcceptance, FalseAlarmsAndPowerKeepTheirBoundsWithAndWithoutDrift) {
  const Counts counts = simulate_five_blocks(10'000);
  for (const auto& [name, number] : counts.of) RecordProperty(name, std::to_string(number));
  EXPECT_EQ(broken_bounds(counts), std::vector<std::string>{});
  EXPECT_NEAR(counts.of.at("half_width"), 0.0120, 0.0005);
}

// A twin of the method: arms in the same order in every block, and no term for the position.
JudgedTimes judge_without_slope(const stats::LeastSquares& model, double critical_value, const std::vector<double>& times,
                                double smallest_effect) {
  std::vector<double> logs;
  for (double time : times) logs.push_back(std::log(time));
  const stats::Solution solution = model.solve(logs);
  const double sd = std::sqrt(solution.residual_sum_of_squares / static_cast<double>(model.degrees_of_freedom()));
  JudgedTimes judged;
  for (std::size_t arm = 1; arm <= kNumCandidates; ++arm) {
    std::vector<double> contrast(solution.coefficients.size(), 0.0);
    contrast[0] = -1;
    contrast[arm] = 1;
    const double difference = stats::dot(contrast, solution.coefficients);
    const double half = critical_value * sd * std::sqrt(model.covariance(contrast, contrast));
    base::TimeVerdict verdict{std::expm1(difference), std::expm1(difference - half), std::expm1(difference + half)};
    const bool is_equal = verdict.low >= -smallest_effect && verdict.high <= smallest_effect;
    verdict.word = is_equal ? base::TimeWord::kEqual : verdict.low > 0 ? base::TimeWord::kSlower : base::TimeWord::kUndecided;
    if (!is_equal && verdict.high < 0) verdict.word = base::TimeWord::kFaster;
    judged.arms.push_back(verdict);
  }
  return judged;
}

TEST(TimeAcceptance, ATwinWithAFixedOrderAndNoSlopeBreaksThem) {
  constexpr std::size_t kNumBlocks = 5;
  const std::vector<std::vector<std::size_t>> orders(kNumBlocks, {1, 0, 2, 3, 4, 5, 0, 6});
  const std::vector<stats::RunPlace> places = run_study(orders, 0).places;
  stats::Matrix matrix(places.size(), kNumCandidates + 1 + kNumBlocks);
  for (std::size_t row = 0; row < places.size(); ++row)
    matrix(row, places[row].arm) = matrix(row, kNumCandidates + 1 + static_cast<std::size_t>(places[row].block)) = 1;
  const stats::LeastSquares model(matrix);
  const double critical_value = stats::dunnett_critical_value(std::vector<double>(kNumCandidates, std::sqrt(1.0 / 3)),
                                                              static_cast<double>(model.degrees_of_freedom()), 0.95);
  const Counts counts = over_seeds(2'000, [&](std::uint64_t seed, Counts& count) {
    const Simulated study = run_study(orders, seed);
    for (double drift : {0.0, kDriftOverBlock})
      count_study(judge_without_slope(model, critical_value, study.step_times_ns(kNone, drift), kAnyEffect),
                  judge_without_slope(model, critical_value, study.step_times_ns(kOneSlower, drift), kSmallestEffect),
                  drift > 0 ? " under drift" : "", count);
  });
  EXPECT_NEAR(counts.of.at("alarm"), 0.05, 0.02) << "without a drift the twin is no worse";
  EXPECT_GT(counts.of.at("found"), 0.93);
  EXPECT_GT(counts.of.at("alarm under drift"), 0.057);
  EXPECT_LT(counts.of.contains("found under drift") ? counts.of.at("found under drift") : 0, 0.9);
}

base::StudyPlan auto_plan() {
  base::StudyPlan plan;
  plan.blocks_auto = true;
  return plan;
}

// Looks after 3, 5 and 8 blocks; an arm that is decided runs no further.
void look_until_decided(const Effects& effects, double smallest_effect, std::uint64_t seed, Counts& counts) {
  const auto orders = plan::block_orders(base::kLooks[2], kNumCandidates, seed);
  Gauss gauss(seed);
  Simulated study;
  std::vector<bool> is_decided(kNumCandidates + 1, false);
  bool false_alarm = false;
  std::int64_t num_blocks = 0;
  for (std::int64_t look : base::kLooks) {
    if (std::count(is_decided.begin() + 1, is_decided.end(), false) == 0) break;
    run_blocks(
        orders, num_blocks, look, [&](std::size_t arm) { return !is_decided[arm]; }, gauss, study);
    num_blocks = look;
    const stats::BlockDesign design(study.places, kNumCandidates + 1, confidence_of_look(auto_plan()));
    const JudgedTimes judged = judge_times(design, study.step_times_ns(effects, 0), smallest_effect);
    for (std::size_t i = 0; i < judged.arms.size(); ++i) {
      const std::size_t arm = design.compared_arms()[i];
      if (is_decided[arm] || judged.arms[i].word == base::TimeWord::kUndecided) continue;
      is_decided[arm] = true;
      if (effects[arm] == 0 && judged.arms[i].word != base::TimeWord::kEqual) false_alarm = true;
    }
  }
  if (false_alarm) counts.add("alarm");
  counts.add("blocks", static_cast<double>(num_blocks));
  counts.add("trials", static_cast<double>(study.places.size()));
  counts.add("decided", static_cast<double>(std::count(is_decided.begin(), is_decided.end(), true)));
}

constexpr Effects kMixed = {0, 0, 0, 0.005, 0.01, 0.03, 0.05};

TEST(TimeAcceptance, ThreeLooksTogetherKeepTheFamilysErrorRateAndSaveBlocks) {
  const Counts null = over_seeds(2'500, [](std::uint64_t seed, Counts& counts) { look_until_decided(kNone, kAnyEffect, seed, counts); });
  EXPECT_LE(null.of.at("alarm"), 0.057);
  EXPECT_GE(null.of.at("alarm"), 0.02) << "looks that never alarm are no looks";
  const Counts mixed =
      over_seeds(400, [](std::uint64_t seed, Counts& counts) { look_until_decided(kMixed, kSmallestEffect, seed, counts); });
  RecordProperty("alarm of three looks", std::to_string(null.of.at("alarm")));
  for (const auto& [name, number] : mixed.of) RecordProperty(name + " of mixed arms", std::to_string(number));
  const double trials_of_eight_blocks = static_cast<double>(base::kLooks[2]) * (kNumCandidates + 2);
  EXPECT_LT(mixed.of.at("trials"), 0.75 * trials_of_eight_blocks);
  EXPECT_GT(mixed.of.at("decided"), 5) << "of six";
}

}  // namespace
}  // namespace rematch::rules

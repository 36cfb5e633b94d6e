#include "orchestrator/rules/time_verdicts.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "orchestrator/base/study_plan.h"
#include "orchestrator/rules/blocks_needed.h"
#include "orchestrator/rules/judge_runs.h"

namespace rematch::rules {

namespace {

using base::ArmVerdict;
using base::TimeWord;

constexpr double kErrorRate = 0.05;
constexpr double kDriftErrorRate = 0.05;

// The passing runs of a group whose step times may be set against each other.
struct GroupRuns {
  std::vector<ArmVerdict*> arms;  // the reference first
  std::vector<stats::RunPlace> places;
  std::vector<double> step_times_ns;
};

void add_runs(const base::StudyRows& study, const base::StudyVerdict& verdict, ArmVerdict& arm, GroupRuns& group) {
  for (std::size_t index : judged_attempts(study, arm.arm)) {
    const base::RunVerdict& run = verdict.runs[index];
    if (!run.figures || run.figures->median_step_time_ns.value_or(0) <= 0) continue;
    group.places.push_back({group.arms.size(), run.block, static_cast<double>(run.slot)});
    group.step_times_ns.push_back(*run.figures->median_step_time_ns);
  }
  group.arms.push_back(&arm);
}

GroupRuns runs_of(const base::StudyRows& study, base::StudyVerdict& verdict, const base::GroupVerdict& judged) {
  GroupRuns group;
  const auto is_in = [&](const ArmVerdict& arm) { return arm.group_id == judged.group_id && arm.figures; };
  for (ArmVerdict& arm : verdict.arms)
    if (is_in(arm) && arm.arm == judged.reference_arm) add_runs(study, verdict, arm, group);
  if (group.places.empty()) return {};
  for (ArmVerdict& arm : verdict.arms)
    if (is_in(arm) && arm.effect && arm.effect->time_delta_fraction) add_runs(study, verdict, arm, group);
  return group;
}

std::string not_compared_text(const GroupRuns& group, const stats::BlockDesign& design) {
  std::string names;
  for (std::size_t arm = 1; arm < group.arms.size(); ++arm)
    if (std::count(design.compared_arms().begin(), design.compared_arms().end(), arm) == 0)
      names += (names.empty() ? "" : ", ") + group.arms[arm]->arm;
  if (names.empty()) return {};
  return "No interval of the step times of " + names + ": no block joins them to " + group.arms.front()->arm +
         ", because they ran in other rounds or trials are missing.";
}

}  // namespace

TimeWord time_word(double low, double high, double smallest_effect) {
  if (low >= -smallest_effect && high <= smallest_effect) return TimeWord::kEqual;
  if (low > 0) return TimeWord::kSlower;
  return high < 0 ? TimeWord::kFaster : TimeWord::kUndecided;
}

double confidence_of_look(const base::StudyPlan& plan) {
  return 1 - kErrorRate / (plan.blocks_auto ? static_cast<double>(base::kLooks.size()) : 1.0);
}

JudgedTimes judge_times(const stats::BlockDesign& design, std::span<const double> step_times_ns, double smallest_effect) {
  std::vector<double> log_times;
  for (double time : step_times_ns) log_times.push_back(std::log(time));
  const stats::BlockFit fit = design.fit(log_times);
  JudgedTimes judged;
  judged.fit = {.num_runs = static_cast<std::int64_t>(step_times_ns.size()),
                .degrees_of_freedom = design.degrees_of_freedom(),
                .residual_sd = fit.residual_sd,
                .critical_value = design.critical_value(),
                .confidence = design.confidence(),
                .drift_per_slot = fit.slope,
                .drift_p_value = fit.slope_p_value,
                .drift_flagged = fit.slope_p_value < kDriftErrorRate};
  judged.differences = fit.arms;
  for (const stats::ArmDifference& arm : fit.arms) {
    base::TimeVerdict verdict;
    verdict.fraction = std::expm1(arm.difference);
    verdict.low = std::expm1(arm.difference - arm.half_width);
    verdict.high = std::expm1(arm.difference + arm.half_width);
    verdict.word = time_word(verdict.low, verdict.high, smallest_effect);
    judged.arms.push_back(verdict);
  }
  return judged;
}

namespace {

constexpr std::int64_t kAllBlocks = std::numeric_limits<std::int64_t>::max();

// A look sees the blocks before its number. One that comes after all looks sees the rest: blocks of pairs.
std::vector<std::int64_t> looks_of(const base::StudyPlan& plan, const GroupRuns& group) {
  if (!plan.blocks_auto) return {kAllBlocks};
  std::vector<std::int64_t> looks;
  std::copy_if(base::kLooks.begin(), base::kLooks.end(), std::back_inserter(looks),
               [&](std::int64_t look) { return look <= plan.num_blocks; });
  const bool has_more =
      std::any_of(group.places.begin(), group.places.end(), [](const auto& place) { return place.block >= base::kLooks.back(); });
  if (has_more || looks.empty()) looks.push_back(kAllBlocks);
  return looks;
}

GroupRuns runs_before(const GroupRuns& all, std::int64_t block) {
  GroupRuns group{all.arms, {}, {}};
  for (std::size_t i = 0; i < all.places.size(); ++i) {
    if (all.places[i].block >= block) continue;
    group.places.push_back(all.places[i]);
    group.step_times_ns.push_back(all.step_times_ns[i]);
  }
  return group;
}

std::int64_t num_blocks_of(const GroupRuns& group, std::size_t arm) {
  std::set<std::int64_t> blocks;
  for (const stats::RunPlace& place : group.places)
    if (place.arm == arm) blocks.insert(place.block);
  return static_cast<std::int64_t>(blocks.size());
}

// An arm that an earlier look decided keeps its word: the error rate of that look is spent.
void look_at(const GroupRuns& group, const base::StudyPlan& plan, base::GroupVerdict& judged) {
  const stats::BlockDesign design(group.places, group.arms.size(), confidence_of_look(plan));
  if (!design.refusal().empty()) {
    if (!judged.fit)
      judged.no_fit = "No interval of step times, and no word on them: " + design.refusal() + ". Run more blocks (measure.blocks).";
    return;
  }
  const JudgedTimes times = judge_times(design, group.step_times_ns, plan.smallest_effect);
  judged.fit = times.fit;
  judged.no_fit = not_compared_text(group, design);
  BlocksNeeded blocks_needed(design);
  for (std::size_t i = 0; i < times.arms.size(); ++i) {
    const std::size_t arm = design.compared_arms()[i];
    std::optional<base::TimeVerdict>& time = group.arms[arm]->effect->time;
    if (time && time->word != TimeWord::kUndecided) continue;
    time = times.arms[i];
    if (time->word == TimeWord::kUndecided)
      time->blocks_needed = blocks_needed.of(times.differences[i], plan.smallest_effect, num_blocks_of(group, arm));
  }
}

}  // namespace

void compare_times(const base::StudyRows& study, base::StudyVerdict& verdict) {
  for (base::GroupVerdict& judged : verdict.groups) {
    const GroupRuns group = runs_of(study, verdict, judged);
    if (group.arms.size() < 2) continue;
    for (const std::int64_t look : looks_of(study.plan, group)) look_at(runs_before(group, look), study.plan, judged);
  }
}

}  // namespace rematch::rules

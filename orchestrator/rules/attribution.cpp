#include "orchestrator/rules/attribution.h"

#include <algorithm>
#include <string_view>

#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/rank_peak.h"

namespace rematch::rules {

namespace {

using base::AttributedPeak;
using protocol::AttributedBytes;

// "moe" is in "moe/moe_act", "moe_act" too, "act" is not.
bool is_in_region_of(const std::string& region, const std::string& label) {
  const std::string bounded = "/" + region + "/";
  return bounded.find("/" + label + "/") != std::string::npos;
}

bool is_in_region_of_any(const AttributedBytes& part, const std::vector<std::string>& labels) {
  return std::any_of(labels.begin(), labels.end(), [&](const std::string& label) { return is_in_region_of(part.region, label); });
}

template <typename Wanted>
std::int64_t sum_of(const protocol::Attribution& attribution, Wanted wanted) {
  std::int64_t sum = 0;
  for (const AttributedBytes& part : attribution)
    if (wanted(part)) sum += part.bytes;
  return sum;
}

std::optional<AttributedPeak> at_failure(const base::RankRows& rank) {
  if (!rank.oom || !rank.oom->attribution || rank.oom->attribution->empty()) return std::nullopt;
  return AttributedPeak{rank.rank, base::Moment::kOutOfMemory, rank.oom->step, rank.oom->phase, *rank.oom->attribution};
}

std::optional<AttributedPeak> at_peak(const base::RankRows& rank) {
  const protocol::StepRecord* step = base::hottest_step(rank);
  if (step == nullptr || !step->peak_attribution || step->peak_attribution->empty()) return std::nullopt;
  return AttributedPeak{rank.rank, base::Moment::kPeak, step->step, base::binding_phase(step->phases), *step->peak_attribution};
}

}  // namespace

std::optional<AttributedPeak> attributed_peak(const base::AttemptRows& attempt) {
  const auto hot = hot_rank(peaks_of_ranks(attempt));
  for (const base::RankRows& rank : attempt.ranks)
    if (attempt.failure && attempt.failure->kind == protocol::FailureKind::kOom && attempt.failure->rank == rank.rank)
      return at_failure(rank);
  for (const base::RankRows& rank : attempt.ranks)
    if (hot && hot->rank == rank.rank) return at_peak(rank);
  return std::nullopt;
}

std::optional<base::AttributedPeak> control_attribution(const base::StudyRows& study, const std::string& control_arm) {
  for (std::size_t index : judged_attempts(study, control_arm))
    if (auto peak = attributed_peak(study.attempts[index])) return peak;
  return std::nullopt;
}

std::int64_t covered_bytes(const protocol::Attribution& attribution, const std::vector<std::string>& labels) {
  return sum_of(attribution, [&](const AttributedBytes& part) { return is_in_region_of_any(part, labels); });
}

std::int64_t uncovered_activation_bytes(const protocol::Attribution& attribution, const std::vector<std::string>& labels) {
  return sum_of(attribution, [&](const AttributedBytes& part) {
    return part.role == protocol::Role::kActivations && !is_in_region_of_any(part, labels);
  });
}

std::int64_t upper_bound_bytes(const AttributedPeak& control, const protocol::RecomputeSpec& recompute) {
  if (no_label_lowers(control.phase)) return 0;
  if (recompute.recompute_granularity == "full")
    return sum_of(control.attribution,
                  [](const AttributedBytes& part) { return part.role == protocol::Role::kActivations || !part.region.empty(); });
  return covered_bytes(control.attribution, recompute.recompute_modules.value_or(std::vector<std::string>{}));
}

bool no_label_lowers(protocol::Phase phase) {
  switch (phase) {
    case protocol::Phase::kGradSync:
    case protocol::Phase::kOptimizerInit:
    case protocol::Phase::kOptimizer: return true;
    case protocol::Phase::kBuild:
    case protocol::Phase::kForward:
    case protocol::Phase::kBackward:
    case protocol::Phase::kGraphCapture:
    case protocol::Phase::kOther: return false;
  }
  return false;
}

}  // namespace rematch::rules

#include "orchestrator/rules/fragmentation.h"

#include <vector>

#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/steady_steps.h"
#include "orchestrator/stats/plateau.h"

namespace rematch::rules {

namespace {

// A healthy cache stays under this: the published Moonlight rows, with their 40 of 36.6 GB, are below.
constexpr double kCacheFraction = 0.1;

// Up to here a request comes from a pool of its own, to which a large free block is of no use.
constexpr std::int64_t kSmallRequestBytes = std::int64_t{1} << 20;

std::optional<FragmentationSign> sign_of_failure(const base::RankRows& rank) {
  if (!rank.oom) return std::nullopt;
  const protocol::OomRecord& oom = *rank.oom;
  const bool enough_is_free = oom.reserved_bytes - oom.allocated_bytes >= oom.requested_bytes;
  const bool has_a_block = oom.largest_free_block_bytes >= oom.requested_bytes && oom.requested_bytes > kSmallRequestBytes;
  if (!enough_is_free || has_a_block) return std::nullopt;
  FragmentationSign sign;
  sign.rank = rank.rank;
  sign.step = oom.step;
  sign.allocated_bytes = oom.allocated_bytes;
  sign.reserved_bytes = oom.reserved_bytes;
  sign.num_alloc_retries = oom.num_alloc_retries;
  sign.largest_free_block_bytes = oom.largest_free_block_bytes;
  sign.requested_bytes = oom.requested_bytes;
  return sign;
}

std::optional<FragmentationSign> sign_of_steps(const base::RankRows& rank, std::int64_t first_steady_step) {
  if (static_cast<std::int64_t>(rank.steps.size()) <= first_steady_step) return std::nullopt;
  std::vector<std::int64_t> peaks;
  for (const protocol::StepRecord& step : rank.steps) peaks.push_back(step.lifetime_peak_allocated_bytes);
  const stats::Plateau plateau = stats::find_plateau(peaks);
  const protocol::StepRecord& last = rank.steps.back();
  const std::int64_t before = first_steady_step == 0 ? 0 : rank.steps[static_cast<std::size_t>(first_steady_step) - 1].num_alloc_retries;
  const std::int64_t unused = last.lifetime_peak_reserved_bytes - last.lifetime_peak_allocated_bytes;
  const bool is_large = static_cast<double>(unused) > kCacheFraction * static_cast<double>(last.lifetime_peak_reserved_bytes);
  if (!plateau.reached || last.num_alloc_retries <= before || !is_large) return std::nullopt;
  FragmentationSign sign;
  sign.rank = rank.rank;
  sign.step = last.step;
  sign.allocated_bytes = last.lifetime_peak_allocated_bytes;
  sign.reserved_bytes = last.lifetime_peak_reserved_bytes;
  sign.num_alloc_retries = last.num_alloc_retries - before;
  sign.largest_free_block_bytes = last.largest_free_block_bytes;
  sign.growth_bytes = plateau.growth_bytes;
  return sign;
}

std::optional<FragmentationSign> sign_of(const base::AttemptRows& attempt) {
  if (attempt.failure) {
    const base::RankRows* cause = base::find_rank(attempt.ranks, attempt.failure->rank);
    return cause == nullptr || attempt.failure->kind != protocol::FailureKind::kOom ? std::nullopt : sign_of_failure(*cause);
  }
  for (const base::RankRows& rank : attempt.ranks)
    if (auto sign = sign_of_steps(rank, first_step_after_warmup(attempt))) return sign;
  return std::nullopt;
}

}  // namespace

std::optional<FragmentationSign> fragmentation_sign(const base::StudyRows& study, const std::string& arm) {
  std::optional<FragmentationSign> first;
  for (std::size_t index : judged_attempts(study, arm)) {
    const auto sign = sign_of(study.attempts[index]);
    if (sign && sign->requested_bytes) return sign;
    if (!first) first = sign;
  }
  return first;
}

}  // namespace rematch::rules

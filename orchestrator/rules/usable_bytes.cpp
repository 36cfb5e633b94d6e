#include "orchestrator/rules/usable_bytes.h"

#include <algorithm>
#include <set>

#include "orchestrator/rules/compare_published.h"
#include "orchestrator/rules/rank_peak.h"
#include "orchestrator/rules/steady_steps.h"

namespace rematch::rules {

namespace {

using base::AttemptRows;
using protocol::PublishedEnd;

base::RankPeak largest_through(const AttemptRows& attempt, std::int64_t step) {
  base::RankPeak largest;
  for (const base::RankRows& rank : attempt.ranks) {
    const base::RankPeak peak = peak_through_step(rank, step);
    largest.allocated_bytes = std::max(largest.allocated_bytes, peak.allocated_bytes);
    largest.reserved_bytes = std::max(largest.reserved_bytes, peak.reserved_bytes);
  }
  return largest;
}

bool gave_memory_back(const AttemptRows& attempt, std::int64_t step) {
  return std::any_of(attempt.ranks.begin(), attempt.ranks.end(),
                     [&](const base::RankRows& rank) { return rank.steps[static_cast<std::size_t>(step)].num_alloc_retries > 0; });
}

// With so many bytes the run gets through this step.
std::int64_t enough_bytes(const AttemptRows& attempt, std::int64_t step) {
  const auto& limit = attempt.trial.backend.memory_limit_bytes;
  return limit && gave_memory_back(attempt, step) ? *limit : largest_through(attempt, step).reserved_bytes;
}

std::string iterations_text(std::int64_t num_iterations) {
  return num_iterations == 1 ? "iteration 1" : "iterations 1 to " + std::to_string(num_iterations);
}

void add_completed(const AttemptRows& attempt, UsableRow& row) {
  if (attempt.failure) {
    row.why_not = "the study's own run failed: give it more memory, or simulate it with backend.memory_limit null";
    return;
  }
  row.at_least_bytes = largest_through(attempt, num_steps_completed(attempt) - 1).allocated_bytes;
  row.at_least_over = "all steps";
}

void add_failed(const AttemptRows& attempt, const protocol::PublishedOutcome& outcome, UsableRow& row) {
  const std::int64_t num_completed = *outcome.iterations_completed;
  row.failing_iteration = num_completed + 1;
  if (outcome.allocated) row.published_allocated_bytes = outcome.allocated->bytes - outcome.allocated->resolution_bytes;
  const std::int64_t num_steps = num_steps_completed(attempt);
  if (num_completed > 0 && num_completed <= num_steps) {
    row.at_least_bytes = largest_through(attempt, num_completed - 1).allocated_bytes;
    row.at_least_over = iterations_text(num_completed);
  }
  if (num_completed < num_steps)
    row.less_than_bytes = enough_bytes(attempt, num_completed);
  else
    row.why_not = "iteration " + std::to_string(num_completed + 1) + " was not completed here";
}

UsableRow usable_row(const base::StudyRows& study, const protocol::Published& published, const protocol::PublishedRow& published_row,
                     const std::string& arm) {
  UsableRow row;
  row.arm = arm;
  row.why_not = not_comparable_reason(study, published, published_row, arm);
  if (!row.why_not.empty()) return row;
  const AttemptRows& attempt = *compared_attempt(study, arm);
  const protocol::PublishedOutcome& outcome = published_row.outcome;
  if (outcome.kind == PublishedEnd::kCompleted)
    add_completed(attempt, row);
  else if (outcome.kind == PublishedEnd::kOutOfMemory && outcome.iterations_completed)
    add_failed(attempt, outcome, row);
  else
    row.why_not = "the source does not say how far it got";
  return row;
}

void bound_by(const UsableRow& row, UsableInterval& interval) {
  const auto lower = lower_bound_bytes(row);
  if (lower && (!interval.from_bytes || *lower > *interval.from_bytes)) {
    interval.from_bytes = lower;
    interval.from_arm = row.arm;
  }
  if (row.less_than_bytes && (!interval.below_bytes || *row.less_than_bytes < *interval.below_bytes)) {
    interval.below_bytes = row.less_than_bytes;
    interval.below_arm = row.arm;
  }
}

UsableInterval interval_of(const std::vector<UsableRow>& rows) {
  UsableInterval interval;
  for (const UsableRow& row : rows) bound_by(row, interval);
  interval.is_empty = interval.from_bytes && interval.below_bytes && *interval.from_bytes >= *interval.below_bytes;
  if (!interval.is_empty) return interval;
  for (const UsableRow& row : rows) {
    const auto lower = lower_bound_bytes(row);
    const bool too_high = lower && *lower >= *interval.below_bytes;
    const bool too_low = row.less_than_bytes && *row.less_than_bytes <= *interval.from_bytes;
    if (too_high || too_low) interval.contradicting.push_back(row.arm);
  }
  return interval;
}

// Whether this many usable bytes may give the row's outcome.
bool is_explained(const UsableRow& row, std::int64_t bytes) {
  return lower_bound_bytes(row).value_or(bytes) <= bytes && (!row.less_than_bytes || *row.less_than_bytes > bytes);
}

// The rows that this many usable bytes leave unexplained, and the interval of the others.
UsableRest rest_at(const std::vector<UsableRow>& rows, std::int64_t bytes) {
  UsableRest rest;
  UsableInterval others;
  for (const UsableRow& row : rows)
    if (is_explained(row, bytes))
      bound_by(row, others);
    else
      rest.without.push_back(row.arm);
  rest.from_bytes = others.from_bytes;
  rest.below_bytes = others.below_bytes;
  return rest;
}

// The best choices are met at 0 or at some row's lower bound: between two of these the upper bounds only exclude more.
std::vector<UsableRest> smallest_rests(const std::vector<UsableRow>& rows) {
  std::set<std::int64_t> candidates = {0};
  for (const UsableRow& row : rows)
    if (const auto lower = lower_bound_bytes(row)) candidates.insert(*lower);
  std::vector<UsableRest> smallest;
  for (const std::int64_t bytes : candidates) {
    UsableRest rest = rest_at(rows, bytes);
    if (!smallest.empty() && rest.without.size() > smallest.front().without.size()) continue;
    if (!smallest.empty() && rest.without == smallest.back().without) continue;
    if (!smallest.empty() && rest.without.size() < smallest.front().without.size()) smallest.clear();
    smallest.push_back(std::move(rest));
  }
  return smallest;
}

std::optional<std::int64_t> derived_capacity(const base::StudyRows& study) {
  for (const protocol::Trial& trial : study.plan.trials)
    if (trial.prediction) return trial.prediction->device_memory_bytes - trial.prediction->outside_allocator_bytes;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> lower_bound_bytes(const UsableRow& row) {
  if (!row.at_least_bytes || !row.published_allocated_bytes) return row.at_least_bytes ? row.at_least_bytes : row.published_allocated_bytes;
  return std::max(*row.at_least_bytes, *row.published_allocated_bytes);
}

UsableBytes usable_bytes(const base::StudyRows& study, const protocol::Published& published) {
  UsableBytes usable;
  for (const protocol::PublishedRow& row : published.rows)
    for (const std::string& arm : arms_of_row(study, row)) usable.rows.push_back(usable_row(study, published, row, arm));
  usable.interval = interval_of(usable.rows);
  if (usable.interval.is_empty) usable.rests = smallest_rests(usable.rows);
  usable.capacity_bytes = derived_capacity(study);
  return usable;
}

std::optional<bool> is_inside(const Bounds& bounds, const std::optional<std::int64_t>& capacity_bytes) {
  if (!capacity_bytes || (!bounds.from_bytes && !bounds.below_bytes)) return std::nullopt;
  const bool is_enough = !bounds.from_bytes || *capacity_bytes >= *bounds.from_bytes;
  return is_enough && (!bounds.below_bytes || *capacity_bytes < *bounds.below_bytes);
}

}  // namespace rematch::rules

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

using PeakOf = base::RankPeak (*)(const base::RankRows& rank, std::int64_t step);

NeededBytes largest(const AttemptRows& attempt, PeakOf peak_of, std::int64_t step) {
  NeededBytes needed;
  for (const base::RankRows& rank : attempt.ranks) {
    const base::RankPeak peak = peak_of(rank, step);
    needed.allocated = std::max(needed.allocated, peak.allocated_bytes);
    needed.reserved = std::max(needed.reserved, peak.reserved_bytes);
  }
  return needed;
}

std::string iterations_text(std::int64_t num_iterations) {
  return num_iterations == 1 ? "iteration 1" : "iterations 1 to " + std::to_string(num_iterations);
}

void add_completed(const AttemptRows& attempt, UsableRow& row) {
  if (attempt.failure) {
    row.why_not = "the study's own run failed: run it without a memory limit";
    return;
  }
  row.at_least = largest(attempt, peak_through_step, num_steps_completed(attempt) - 1);
  row.at_least_over = "all steps";
}

void add_failed(const AttemptRows& attempt, std::int64_t num_completed, UsableRow& row) {
  row.failing_iteration = num_completed + 1;
  const std::int64_t num_steps = num_steps_completed(attempt);
  if (num_completed > 0 && num_completed <= num_steps) {
    row.at_least = largest(attempt, peak_through_step, num_completed - 1);
    row.at_least_over = iterations_text(num_completed);
  }
  if (num_completed < num_steps)
    row.less_than = largest(attempt, peak_of_step, num_completed);
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
    add_failed(attempt, *outcome.iterations_completed, row);
  else
    row.why_not = "the source does not say how far it got";
  return row;
}

using Member = std::int64_t NeededBytes::*;

void bound_by(const UsableRow& row, Member member, UsableInterval& interval) {
  if (row.at_least && (!interval.from_bytes || (*row.at_least).*member > *interval.from_bytes)) {
    interval.from_bytes = (*row.at_least).*member;
    interval.from_arm = row.arm;
  }
  if (row.less_than && (!interval.below_bytes || (*row.less_than).*member < *interval.below_bytes)) {
    interval.below_bytes = (*row.less_than).*member;
    interval.below_arm = row.arm;
  }
}

UsableInterval interval_of(const std::vector<UsableRow>& rows, Member member) {
  UsableInterval interval;
  for (const UsableRow& row : rows) bound_by(row, member, interval);
  interval.is_empty = interval.from_bytes && interval.below_bytes && *interval.from_bytes >= *interval.below_bytes;
  if (!interval.is_empty) return interval;
  for (const UsableRow& row : rows) {
    const bool too_high = row.at_least && (*row.at_least).*member >= *interval.below_bytes;
    const bool too_low = row.less_than && (*row.less_than).*member <= *interval.from_bytes;
    if (too_high || too_low) interval.contradicting.push_back(row.arm);
  }
  return interval;
}

// Whether this many usable bytes give the row's outcome.
bool is_explained(const UsableRow& row, Member member, std::int64_t bytes) {
  return (!row.at_least || (*row.at_least).*member <= bytes) && (!row.less_than || (*row.less_than).*member > bytes);
}

// The rows that this many usable bytes leave unexplained, and the interval of the others.
UsableRest rest_at(const std::vector<UsableRow>& rows, Member member, std::int64_t bytes) {
  UsableRest rest;
  UsableInterval others;
  for (const UsableRow& row : rows)
    if (is_explained(row, member, bytes))
      bound_by(row, member, others);
    else
      rest.without.push_back(row.arm);
  rest.from_bytes = others.from_bytes;
  rest.below_bytes = others.below_bytes;
  return rest;
}

// The best choices are met at 0 or at some row's lower bound: between two of these the upper bounds only exclude more.
std::vector<UsableRest> smallest_rests(const std::vector<UsableRow>& rows, Member member) {
  std::set<std::int64_t> candidates = {0};
  for (const UsableRow& row : rows)
    if (row.at_least) candidates.insert((*row.at_least).*member);
  std::vector<UsableRest> smallest;
  for (const std::int64_t bytes : candidates) {
    UsableRest rest = rest_at(rows, member, bytes);
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

UsableBytes usable_bytes(const base::StudyRows& study, const protocol::Published& published) {
  UsableBytes usable;
  for (const protocol::PublishedRow& row : published.rows)
    for (const std::string& arm : arms_of_row(study, row)) usable.rows.push_back(usable_row(study, published, row, arm));
  usable.allocated = interval_of(usable.rows, &NeededBytes::allocated);
  usable.reserved = interval_of(usable.rows, &NeededBytes::reserved);
  if (usable.allocated.is_empty) usable.allocated_rests = smallest_rests(usable.rows, &NeededBytes::allocated);
  if (usable.reserved.is_empty) usable.reserved_rests = smallest_rests(usable.rows, &NeededBytes::reserved);
  usable.capacity_bytes = derived_capacity(study);
  return usable;
}

std::optional<bool> is_inside(const Bounds& bounds, const std::optional<std::int64_t>& capacity_bytes) {
  if (!capacity_bytes || (!bounds.from_bytes && !bounds.below_bytes)) return std::nullopt;
  const bool is_enough = !bounds.from_bytes || *capacity_bytes >= *bounds.from_bytes;
  return is_enough && (!bounds.below_bytes || *capacity_bytes < *bounds.below_bytes);
}

}  // namespace rematch::rules

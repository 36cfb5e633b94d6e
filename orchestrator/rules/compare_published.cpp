#include "orchestrator/rules/compare_published.h"

#include "orchestrator/rules/judge_runs.h"
#include "orchestrator/rules/published_match.h"
#include "orchestrator/rules/published_peak.h"
#include "orchestrator/rules/published_setting.h"
#include "orchestrator/rules/steady_steps.h"
#include "orchestrator/stats/ratio.h"

namespace rematch::rules {

namespace {

using base::AttemptRows;
using base::StudyRows;
using protocol::Published;
using protocol::PublishedEnd;
using protocol::PublishedRow;

// A model of a device without a limit cannot run out of memory.
bool is_unlimited(const AttemptRows& attempt) {
  return attempt.trial.backend.device != "cuda" && !attempt.trial.backend.memory_limit_bytes;
}

bool is_same_place(const ComparedOutcome& outcome) {
  const bool same_iteration = !outcome.published_iterations || outcome.published_iterations == outcome.own_iterations;
  const bool same_stage = !outcome.published_stage || (outcome.own_failure && outcome.own_failure->stage == *outcome.published_stage);
  return same_iteration && same_stage;
}

std::optional<Agreement> agreement_of(const ComparedOutcome& outcome) {
  if (!outcome.own || outcome.published == PublishedEnd::kNotStated) return std::nullopt;
  if (*outcome.own != outcome.published) return Agreement::kDisagrees;
  if (outcome.published == PublishedEnd::kOutOfMemory && !is_same_place(outcome)) return Agreement::kElsewhere;
  return Agreement::kAgrees;
}

void add_published_outcome(const protocol::PublishedOutcome& published, ComparedOutcome& outcome) {
  outcome.published = published.kind;
  outcome.published_iterations = published.iterations_completed;
  outcome.published_stage = published.stage;
  if (published.requested) outcome.published_requested_bytes = published.requested->bytes;
  outcome.evidence = published.evidence;
}

void add_own_outcome(const AttemptRows& attempt, ComparedOutcome& outcome) {
  outcome.own_iterations = num_steps_completed(attempt);
  outcome.own_failure = attempt.failure;
  if (!attempt.failure && is_unlimited(attempt))
    outcome.no_counterpart = "no memory limit: see usable bytes";
  else if (!attempt.failure)
    outcome.own = PublishedEnd::kCompleted;
  else if (attempt.failure->kind == protocol::FailureKind::kOom)
    outcome.own = PublishedEnd::kOutOfMemory;
  else
    outcome.no_counterpart = "it failed otherwise: " + std::string(protocol::to_string(attempt.failure->kind));
  outcome.agreement = agreement_of(outcome);
}

const protocol::PublishedDelta* printed_delta(const PublishedRow& row) {
  for (const protocol::PublishedDelta& delta : row.deltas)
    if (delta.of == "peak_allocated") return &delta;
  return nullptr;
}

std::optional<std::string> arm_set_against(const StudyRows& study, const PublishedRow& row) {
  if (const protocol::PublishedDelta* printed = printed_delta(row)) return printed->against;
  for (const base::ArmRow& arm : study.plan.arms)
    if (arm.is_control && arm.arm != row.arm) return arm.arm;
  return std::nullopt;
}

void add_published_delta(const Published& published, const PublishedRow& row, ComparedDelta& delta) {
  const protocol::PublishedPeak& peak = *row.peak_allocated;
  const PublishedRow* other = protocol::find_row(published, delta.against);
  if (other != nullptr && other->peak_allocated && other->peak_allocated->after_iteration == peak.after_iteration &&
      other->peak_allocated->ranks == peak.ranks) {
    const std::int64_t other_bytes = other->peak_allocated->figure.bytes;
    delta.published_bytes = peak.figure.bytes - other_bytes;
    delta.published_fraction = stats::difference_fraction(static_cast<double>(peak.figure.bytes), static_cast<double>(other_bytes));
  }
  if (const protocol::PublishedDelta* printed = printed_delta(row); printed != nullptr && printed->percent)
    delta.published_fraction = *printed->percent / 100;
}

std::optional<ComparedDelta> compare_delta(const StudyRows& study, const Published& published, const PublishedRow& row,
                                           const AttemptRows& attempt) {
  const std::optional<std::string> against = arm_set_against(study, row);
  if (!against) return std::nullopt;
  ComparedDelta delta;
  delta.against = *against;
  add_published_delta(published, row, delta);
  if (const AttemptRows* other = compared_attempt(study, *against)) {
    const OwnDelta own = own_delta(attempt, *other, *row.peak_allocated);
    delta.own_bytes = own.bytes;
    delta.own_fraction = own.fraction;
    delta.held_bytes = own.held_bytes;
  }
  if (delta.own_bytes && delta.published_bytes) delta.difference_bytes = *delta.own_bytes - *delta.published_bytes;
  return delta;
}

ComparedRow compare_row(const StudyRows& study, const Published& published, const PublishedRow& row, const std::string& arm) {
  ComparedRow compared;
  compared.arm = arm;
  compared.description = row.description;
  compared.not_comparable = not_comparable_reason(study, published, row, arm);
  add_published_outcome(row.outcome, compared.outcome);
  if (!compared.not_comparable.empty()) return compared;
  const AttemptRows& attempt = *compared_attempt(study, arm);
  add_own_outcome(attempt, compared.outcome);
  if (row.peak_allocated) {
    compared.peak = compare_peak(attempt, *row.peak_allocated);
    compared.delta = compare_delta(study, published, row, attempt);
  }
  return compared;
}

}  // namespace

std::string_view to_string(Agreement agreement) {
  switch (agreement) {
    case Agreement::kAgrees: return "agrees";
    case Agreement::kElsewhere: return "fails elsewhere";
    case Agreement::kDisagrees: return "disagrees";
  }
  return "unknown";
}

const AttemptRows* compared_attempt(const StudyRows& study, const std::string& arm) {
  const std::vector<std::size_t> judged = judged_attempts(study, arm);
  return judged.empty() ? nullptr : &study.attempts[judged.front()];
}

std::vector<std::string> arms_of_row(const StudyRows& study, const PublishedRow& row) {
  if (row.arm) return {*row.arm};
  std::vector<std::string> arms;
  for (const base::ArmRow& arm : study.plan.arms)
    if (row.comparable && arm.status == base::ArmStatus::kPlanned) arms.push_back(arm.arm);
  return arms.empty() ? std::vector<std::string>{""} : arms;
}

std::string not_comparable_reason(const StudyRows& study, const Published& published, const PublishedRow& row, const std::string& arm) {
  if (!row.comparable) return row.reason;
  if (row.arm && !has_control(published)) return "the table has no row without recompute to set it against";
  const base::ArmRow* found = base::find_arm(study.plan, arm);
  if (found == nullptr) return "the study has no such arm";
  if (found->status != base::ArmStatus::kPlanned) return "not run: " + found->reason;
  const AttemptRows* attempt = compared_attempt(study, arm);
  if (attempt == nullptr) return "no run of it has ended yet";
  const std::string precision = precision_of(attempt->trial);
  if (row.precision != precision) return "it is " + row.precision + ", the study " + precision;
  const std::size_t num_differences = setting_differences(published, attempt->trial).size();
  return num_differences == 0 ? "" : "another setting: " + std::to_string(num_differences) + " of its fields differ";
}

std::vector<ComparedRow> compare_published(const StudyRows& study, const Published& published) {
  std::vector<ComparedRow> rows;
  for (const PublishedRow& row : published.rows)
    for (const std::string& arm : arms_of_row(study, row)) rows.push_back(compare_row(study, published, row, arm));
  return rows;
}

}  // namespace rematch::rules

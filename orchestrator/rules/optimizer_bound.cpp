#include "orchestrator/rules/optimizer_bound.h"

#include <algorithm>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/judge_runs.h"

namespace rematch::rules {

namespace {

using protocol::Role;

bool ends_in_optimizer_init(const base::AttemptRows& attempt) {
  return attempt.failure && attempt.failure->kind == protocol::FailureKind::kOom &&
         attempt.failure->stage == protocol::Stage::kOptimizerInit;
}

std::int64_t bytes_of(const protocol::Attribution& attribution, Role role) {
  std::int64_t sum = 0;
  for (const protocol::AttributedBytes& part : attribution)
    if (part.role == role) sum += part.bytes;
  return sum;
}

std::optional<OptimizerBound> bound_of(const base::AttemptRows& attempt) {
  if (!attempt.failure) return std::nullopt;
  const base::RankRows* rank = base::find_rank(attempt.ranks, attempt.failure->rank);
  if (rank == nullptr || !rank->oom || !rank->oom->attribution) return std::nullopt;
  const protocol::OomRecord& oom = *rank->oom;
  return OptimizerBound{attempt.trial.arm,
                        rank->rank,
                        base::num_alike(attempt.trial, rank->rank),
                        bytes_of(*oom.attribution, Role::kParameters),
                        bytes_of(*oom.attribution, Role::kGradients),
                        bytes_of(*oom.attribution, Role::kOptimizerState),
                        oom.allocated_bytes,
                        oom.requested_bytes,
                        oom.capacity_bytes};
}

}  // namespace

std::optional<OptimizerBound> find_optimizer_bound(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::optional<OptimizerBound> least;
  for (const base::ArmVerdict& arm : verdict.arms) {
    if (arm.num_planned > 0 && arm.num_judged == 0) return std::nullopt;
    for (std::size_t index : judged_attempts(study, arm.arm)) {
      if (!ends_in_optimizer_init(study.attempts[index])) return std::nullopt;
      const auto bound = bound_of(study.attempts[index]);
      if (bound && (!least || bound->allocated_bytes < least->allocated_bytes)) least = bound;
    }
  }
  return least;
}

std::string optimizer_bound_text(const OptimizerBound& bound, bool predicted) {
  const auto number = [](std::int64_t bytes) { return base::bytes_text(bytes); };
  const std::int64_t persistent = bound.parameter_bytes + bound.gradient_bytes + bound.optimizer_state_bytes;
  return std::string("Every arm ") + (predicted ? "is predicted to run" : "that was started ran") +
         " out of memory in the making of the optimizer's state, so no label can help and none is compared. On " +
         base::rank_text(bound.rank, bound.num_alike) + " of " + bound.arm + " parameters of " + number(bound.parameter_bytes) +
         ", gradients of " + number(bound.gradient_bytes) + " and optimizer state of " + number(bound.optimizer_state_bytes) + " so far, " +
         number(persistent) + " of the " + number(bound.allocated_bytes) + " held, left no room for " + number(bound.requested_bytes) +
         " more in a capacity of " + (bound.capacity_bytes ? number(*bound.capacity_bytes) : std::string("-")) + ".";
}

}  // namespace rematch::rules

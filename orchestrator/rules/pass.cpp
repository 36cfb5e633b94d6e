#include "orchestrator/rules/pass.h"

#include <algorithm>
#include <string>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/steady_steps.h"

namespace rematch::rules {

namespace {

using base::RankRows;
using base::Shortfall;
using Shortfalls = std::vector<Shortfall>;

std::string rank_name(const RankRows& rank) { return "rank " + std::to_string(rank.rank); }

std::string at_step(const RankRows& rank, const protocol::StepRecord& step) {
  return rank_name(rank) + ", step " + std::to_string(step.step) + ": ";
}

void check_record(const RankRows& rank, Shortfalls& found) {
  if (rank.record_complete) return;
  std::string problems = rank.bye ? "" : "no last line (bye)";
  for (const std::string& problem : rank.record_problems) problems += (problems.empty() ? "" : "; ") + problem;
  found.push_back({"record_complete", rank_name(rank) + ": " + problems});
}

void check_optimizer_init(const RankRows& rank, Shortfalls& found) {
  auto left_it = [](const protocol::StageRecord& record) {
    return record.stage == protocol::Stage::kOptimizerInit && record.event == protocol::StageEvent::kLeave;
  };
  if (std::none_of(rank.stages.begin(), rank.stages.end(), left_it))
    found.push_back({"optimizer_init", rank_name(rank) + " never left optimizer_init"});
}

bool is_finite(const protocol::StepRecord& step) { return step.loss && step.grad_norm && !step.is_nan; }

// The first offending step is named; one a rank is enough to know.
void check_finite(const RankRows& rank, Shortfalls& found) {
  auto bad = std::find_if_not(rank.steps.begin(), rank.steps.end(), is_finite);
  if (bad == rank.steps.end()) return;
  const char* what = bad->loss ? "the gradient norm" : "the loss";
  found.push_back({"finite", at_step(rank, *bad) + what + " is not finite"});
}

void check_skipped(const RankRows& rank, Shortfalls& found) {
  auto skipped = std::find_if(rank.steps.begin(), rank.steps.end(), [](const auto& step) { return step.skipped; });
  if (skipped != rank.steps.end()) found.push_back({"no_skipped_step", at_step(rank, *skipped) + "the optimizer step was skipped"});
}

void check_plateau(const RankRows& rank, Shortfalls& found) {
  const stats::Plateau plateau = plateau_of(rank);
  if (plateau.reached) return;
  found.push_back({"peak_plateau", rank_name(rank) + ": the peak grew by " + base::bytes_text(plateau.growth_bytes) +
                                       " in the last third of " + std::to_string(rank.steps.size()) + " steps, " +
                                       base::bytes_text(plateau.allowed_bytes) + " are allowed: run more steps"});
}

void check_steady_steps(const base::AttemptRows& attempt, Shortfalls& found) {
  const std::int64_t warmup = first_step_after_warmup(attempt);
  const std::int64_t num_steady = std::max<std::int64_t>(0, num_steps_completed(attempt) - warmup);
  if (num_steady >= attempt.trial.measure.steady_steps) return;
  found.push_back({"steady_steps", std::to_string(num_steady) + " steps were completed after " + std::to_string(warmup) + " of warm-up, " +
                                       std::to_string(attempt.trial.measure.steady_steps) + " are wanted"});
}

// Nothing is computed, so there is no loss to be finite, and no step is steadier than another.
Shortfalls predicted_shortfalls(const base::AttemptRows& attempt) {
  Shortfalls found;
  for (const RankRows& rank : attempt.ranks) {
    check_record(rank, found);
    if (static_cast<std::int64_t>(rank.steps.size()) != attempt.trial.training.train_iters)
      found.push_back({"all_steps", rank_name(rank) + ": " + std::to_string(rank.steps.size()) + " steps were completed, " +
                                        std::to_string(attempt.trial.training.train_iters) + " are wanted"});
  }
  return found;
}

}  // namespace

std::vector<Shortfall> pass_shortfalls(const base::AttemptRows& attempt) {
  if (base::is_predicted(attempt.trial)) return predicted_shortfalls(attempt);
  Shortfalls found;
  for (const RankRows& rank : attempt.ranks) {
    check_record(rank, found);
    check_optimizer_init(rank, found);
    check_finite(rank, found);
    check_skipped(rank, found);
    check_plateau(rank, found);
  }
  check_steady_steps(attempt, found);
  return found;
}

}  // namespace rematch::rules

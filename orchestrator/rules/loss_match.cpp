#include "orchestrator/rules/loss_match.h"

#include <algorithm>

#include "orchestrator/rules/steady_steps.h"

namespace rematch::rules {

namespace {

std::string run_name(const base::AttemptRows& attempt) {
  return attempt.trial.arm + " block " + std::to_string(attempt.trial.block) + " slot " + std::to_string(attempt.trial.slot);
}

}  // namespace

std::optional<base::Shortfall> loss_mismatch(const base::AttemptRows& attempt, const base::AttemptRows& reference) {
  for (const base::RankRows& rank : attempt.ranks) {
    const base::RankRows* other = base::find_rank(reference.ranks, rank.rank);
    if (other == nullptr) continue;
    const auto& steps = rank.steps;
    const auto& wanted = other->steps;
    for (std::size_t i = 0; i < std::min(steps.size(), wanted.size()); ++i) {
      if (steps[i].loss_bits == wanted[i].loss_bits) continue;
      return base::Shortfall{"loss_match", "rank " + std::to_string(rank.rank) + ", step " + std::to_string(i) + ": the loss is " +
                                               steps[i].loss_bits + ", " + run_name(reference) + " has " + wanted[i].loss_bits +
                                               " (fp32 bits)"};
    }
  }
  return std::nullopt;
}

std::string loss_basis(const base::AttemptRows& attempt, const base::AttemptRows& reference) {
  const std::int64_t num_common = std::min(num_steps_completed(attempt), num_steps_completed(reference));
  if (num_common == 0) return "";
  return run_name(reference) + ", steps 0 to " + std::to_string(num_common - 1);
}

}  // namespace rematch::rules

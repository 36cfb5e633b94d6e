#include "orchestrator/rules/communication.h"

#include "orchestrator/rules/rank_peak.h"

namespace rematch::rules {

std::optional<StepCommunication> step_communication(const base::AttemptRows& attempt) {
  const auto hot = hot_rank(peaks_of_ranks(attempt));
  for (const base::RankRows& rank : attempt.ranks)
    if (hot && rank.rank == hot->rank && !rank.steps.empty())
      return StepCommunication{rank.rank, rank.steps.back().step, rank.steps.back().communication};
  return std::nullopt;
}

PassTotal total_of(const StepCommunication& communication, protocol::Pass pass) {
  PassTotal total;
  for (const protocol::CommCount& count : communication.counts) {
    if (count.pass != pass) continue;
    total.num_calls += count.num_calls;
    total.bytes += count.bytes;
  }
  return total;
}

}  // namespace rematch::rules

#include "orchestrator/engine/settler.h"

#include "orchestrator/collect/collect.h"
#include "orchestrator/rules/conclusive.h"
#include "orchestrator/rules/control_attested.h"

namespace rematch::engine {

namespace {

std::optional<std::string> refuted_control(const base::AttemptRows& attempt) {
  if (!attempt.trial.is_control || !rules::is_conclusive(attempt)) return std::nullopt;
  const auto shortfall = rules::control_refuted(attempt);
  return shortfall ? std::optional(shortfall->message) : std::nullopt;
}

}  // namespace

base::AttemptRows Settler::settle(const protocol::Trial& trial, const AttemptOnDisk& attempt, Whose whose) {
  if (!attempt.is_done) runner_.beat();
  const bool may_mark = !attempt.is_done && runner_.stop_cause() != StopCause::kSuperseded;
  base::AttemptRows rows = collect::collect_attempt(attempt.folder, study_id_);
  if (may_mark && was_cut_short(rows, whose)) {
    folder_.supersede(attempt, trial.trial_id);
    rows = collect::collect_attempt(attempt.folder, study_id_);
  }
  store_.put_attempt(rows);
  note(rows);
  if (may_mark && rules::is_conclusive(rows)) folder_.mark_done(attempt, trial.trial_id);
  return rows;
}

// Whoever ends a job signals its ranks too: how they fail then says nothing of their arm, and which of them heard it first is chance. So it
// may be with one whose runner did not live to see it end.
bool Settler::was_cut_short(const base::AttemptRows& attempt, Whose whose) {
  if (!attempt.failure || !rules::is_conclusive(attempt)) return false;
  return attempt.launch.allocation && (whose == Whose::kLeft || runner_.stop_cause());
}

void Settler::note(const base::AttemptRows& attempt) {
  if (!refutation_) refutation_ = refuted_control(attempt);
  if (rules::is_conclusive(attempt)) block_time_.ended(attempt);
}

}  // namespace rematch::engine

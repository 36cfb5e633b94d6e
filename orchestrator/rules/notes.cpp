#include "orchestrator/rules/notes.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/base/warnings.h"
#include "orchestrator/rules/hot_rank_moved.h"
#include "orchestrator/rules/moved_failure.h"

namespace rematch::rules {

namespace {

using base::ArmVerdict;
using base::WarningId;

// Every note is a warning with its identifier in front; only the author's own words have none.
class Notes {
 public:
  void add(WarningId id, const std::string& text) { texts_.push_back(base::with_id(id, text)); }
  void quote(const std::string& text) { texts_.push_back(text); }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::vector<std::string> texts_;
};

// A failure that got further, or is on another rank, is a diagnosis.
void note_moved(const ArmVerdict& arm, Notes& notes) {
  if (arm.moved && !arm.moved->got_further && arm.moved->from.rank == arm.moved->to.rank)
    notes.add(WarningId::kFailureMoved, arm.arm + ": " + moved_failure_text(*arm.moved));
}

void note_effect(const ArmVerdict& arm, Notes& notes) {
  if (!arm.not_comparable.empty()) notes.add(WarningId::kNotComparable, arm.arm + ": not comparable: " + arm.not_comparable + ".");
  if (!arm.effect) return;
  if (arm.effect->censored)
    notes.add(WarningId::kCensored, arm.arm + ": its peak is in " + std::string(protocol::to_string(*arm.figures->hot.binding_phase)) +
                                        ", which no label lowers: its saving is at least what is shown; see the activation peak.");
  if (arm.hot_rank_moved) notes.add(WarningId::kHotRankMoved, hot_rank_moved_note(arm.arm, *arm.hot_rank_moved));
}

void note_repeats(const ArmVerdict& arm, Notes& notes) {
  if (arm.outcome == base::Outcome::kBorderline)
    notes.add(WarningId::kBorderline, arm.arm + ": " + std::to_string(arm.num_passed) + " of " + std::to_string(arm.num_judged) +
                                          " repeats pass: it stands at the edge, and its figures are those of the passing repeats.");
  if (arm.figures && arm.figures->smallest_peak_allocated_bytes != arm.figures->hot.allocated_bytes)
    notes.add(WarningId::kRepeatsDiffer,
              arm.arm + ": repeats differ in their peak by " +
                  base::bytes_text(arm.figures->hot.allocated_bytes - arm.figures->smallest_peak_allocated_bytes) + "; the largest, " +
                  base::bytes_text(arm.figures->hot.allocated_bytes) + ", is shown.");
}

void note_unsettled(const base::StudyVerdict& verdict, const ArmVerdict& arm, Notes& notes) {
  if (arm.provenance == protocol::Provenance::kPredicted) return;  // there are no step times
  std::int64_t num_unsettled = 0;
  for (const base::RunVerdict& run : verdict.runs)
    if (run.arm == arm.arm && run.figures && !run.figures->warmup_reached) ++num_unsettled;
  if (num_unsettled > 0)
    notes.add(
        WarningId::kNotSettled,
        arm.arm + ": in " + std::to_string(num_unsettled) + " of " + std::to_string(arm.num_passed) +
            " runs the step times had not settled in the first half (warm-up not_reached): run more steps for a step time to rely on.");
}

void note_fit(const base::GroupVerdict& group, Notes& notes) {
  const std::string where = group.variation.empty() ? "" : "With " + group.variation + ": ";
  if (!group.no_fit.empty()) notes.add(WarningId::kNoInterval, where + group.no_fit);
  if (!group.fit || !group.fit->drift_flagged) return;
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(),
                "Step times drift by %+.3f %% from one place in a block to the next (p = %.2g); intervals allow for it.",
                100 * std::expm1(group.fit->drift_per_slot), group.fit->drift_p_value);
  notes.add(WarningId::kDrift, where + text.data());
}

// nullptr: none.
const std::string* author_note(const base::StudyPlan& plan) {
  if (plan.trials.empty() || !plan.trials.front().prediction) return nullptr;
  const auto& origins = plan.trials.front().prediction->origins;
  const auto found = origins.find("note");
  return found == origins.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<std::string> make_notes(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  Notes notes;
  const bool predicted = base::is_predicted(study.plan);
  if (predicted)
    notes.add(WarningId::kPredicted,
              "Predicted, not measured: the trainer ran on the meta device under the assumptions of the table. It orders and warns; only a "
              "run on the device itself settles anything. Times are estimates by roofline.");
  if (const std::string* note = author_note(study.plan)) notes.quote("the sweep says: " + *note);
  if (verdict.num_missing > 0)
    notes.add(WarningId::kStudyIncomplete, "The study is not complete: " + std::to_string(verdict.num_missing) + " of " +
                                               std::to_string(verdict.num_planned) + " trials are missing. Run it again to go on.");
  for (const ArmVerdict& arm : verdict.arms)
    if (base::is_reference(verdict, arm.arm) && !arm.is_control)
      notes.add(WarningId::kReferenceNotControl, predicted ? "No control is predicted to complete: differences are set against " + arm.arm +
                                                                 ", the narrowest arm that is (reference, not control)."
                                                           : "No control passed: differences are set against " + arm.arm +
                                                                 ", the narrowest passing arm (reference, not control).");
  for (const base::GroupVerdict& group : verdict.groups) note_fit(group, notes);
  for (const ArmVerdict& arm : verdict.arms) {
    note_repeats(arm, notes);
    note_effect(arm, notes);
    note_moved(arm, notes);
    note_unsettled(verdict, arm, notes);
  }
  return notes.take();
}

}  // namespace rematch::rules

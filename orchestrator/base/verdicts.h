// What the rules say of the attempts, the arms and the whole of a study, with the numbers they used. Values only.
// Made by rules/judge.h, stored by store/store.h, rendered by report/. "Not measured" is nullopt, never 0.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/base/rows.h"
#include "schemas/protocol/outcome.h"

namespace rematch::base {

enum class Outcome { kPass, kFail, kBorderline, kInactive, kInvalid, kSkipped, kInterrupted, kLost, kNotRun };
inline constexpr std::array<Outcome, 9> kAllOutcomes = {Outcome::kPass,        Outcome::kFail,    Outcome::kBorderline,
                                                        Outcome::kInactive,    Outcome::kInvalid, Outcome::kSkipped,
                                                        Outcome::kInterrupted, Outcome::kLost,    Outcome::kNotRun};

std::string_view to_string(Outcome outcome);

// A condition of a pass that an attempt does not meet; `rule` is a stable identifier, `message` carries the numbers.
struct Shortfall {
  std::string rule;
  std::string message;
};

// Peaks of one rank over all its records of one attempt.
struct RankPeak {
  std::int64_t rank = 0;
  std::int64_t allocated_bytes = 0;
  std::int64_t reserved_bytes = 0;
  std::optional<protocol::Phase> binding_phase;  // where the allocated peak occurred
};

// Of a prediction: how long a step would take, on the rank that takes longest. An estimate, beside nothing that was measured.
struct StepEstimate {
  std::int64_t rank = 0;
  double time_ns = 0;
  double replay_ns = 0;  // of it
};

// Other views of the step times, for readers who compare with logs of other trainers. Nothing is decided by them.
struct MeanTimes {
  std::optional<double> mean_step_time_ns;       // of the steady steps
  std::optional<double> window_step_time_ns;     // mean of the steps 11 to 20, counted from 1; nullopt when there are fewer
  std::optional<double> tflops_of_mean_time;     // work of a step / mean step time / world size
  std::optional<double> tflops_mean_over_steps;  // mean over the steady steps of work / step time / world size
};

// The figures of one attempt. See reports/METRICS.md for each definition.
struct RunFigures {
  RankPeak hot;  // the rank with the largest allocated peak; the lowest such rank on a tie
  std::optional<std::int64_t> activation_peak_bytes;
  std::optional<std::int64_t> held_after_forward_bytes;
  std::int64_t num_steps_completed = 0;  // by every rank
  std::int64_t first_steady_step = 0;
  bool warmup_reached = false;                // the step times settled in the first half of the run
  std::optional<double> median_step_time_ns;  // of the steady steps
  std::optional<double> tflops_per_rank;      // work of a step / median step time / world size
  std::optional<StepEstimate> estimate;       // of a prediction only, which has no step time
  MeanTimes means;
  std::int64_t peak_growth_bytes = 0;  // of the lifetime peak in the last third of the steps, of the rank nearest to what is allowed
  std::int64_t peak_growth_allowed_bytes = 0;
};

// One attempt of a planned trial.
struct RunVerdict {
  std::string trial_id;
  std::string arm;
  std::int64_t block = 0;
  std::int64_t slot = 0;
  std::int64_t attempt = 1;
  Outcome outcome = Outcome::kNotRun;  // kPass, kFail, kInactive, kInvalid, kInterrupted or kLost
  std::vector<Shortfall> shortfalls;
  std::optional<Failure> failure;
  std::string loss_basis;             // what the losses were compared with; empty when with nothing
  std::vector<RankPeak> rank_peaks;   // by rank, as far as each got
  std::optional<RunFigures> figures;  // of a pass only
};

// An arm's figures over its passing runs.
struct ArmFigures {
  std::int64_t num_runs = 0;
  RankPeak hot;                                    // of the passing run with the largest allocated peak
  std::vector<RankPeak> rank_peaks;                // of that run, by rank
  std::int64_t smallest_peak_allocated_bytes = 0;  // of the passing run with the smallest; equal to hot's when repeats agree to the byte
  std::optional<std::int64_t> activation_peak_bytes;
  std::optional<std::int64_t> held_after_forward_bytes;
  std::optional<double> median_step_time_ns;  // median over runs of the per-run medians
  std::optional<double> tflops_per_rank;
  std::optional<StepEstimate> estimate;  // of a prediction only
  MeanTimes means;                       // each the median over runs
};

enum class TimeWord { kEqual, kFaster, kSlower, kUndecided };
enum class MemoryWord { kEqual, kLower, kHigher, kUndecided };
std::string_view to_string(TimeWord word);
std::string_view to_string(MemoryWord word);

// Of a step time, from the fit over all blocks of the group.
struct TimeVerdict {
  double fraction = 0;  // ratio - 1
  double low = 0;       // simultaneous interval, as fraction is
  double high = 0;
  TimeWord word = TimeWord::kUndecided;
  std::optional<std::int64_t> blocks_needed;  // of kUndecided: that would decide it at this noise
};

// Of the hot rank's peak allocated.
struct MemoryVerdict {
  MemoryWord word = MemoryWord::kUndecided;
  std::optional<std::int64_t> low_bytes;  // interval of the difference; nullopt when repeats agree to the byte or there are none
  std::optional<std::int64_t> high_bytes;
};

// Log step time = arm + block + slope * position in the block, by least squares over the passing runs of a group.
struct TimeFit {
  std::int64_t num_runs = 0;
  std::int64_t degrees_of_freedom = 0;
  double residual_sd = 0;     // of log step time, pooled over the arms
  double critical_value = 0;  // Dunnett
  double confidence = 0;      // simultaneous, of one look
  double drift_per_slot = 0;  // the slope
  double drift_p_value = 1;   // of its t-test
  bool drift_flagged = false;
};

// A passing arm against the control, or against the reference when the control does not fit.
struct Effect {
  std::string against;          // the arm
  bool against_control = true;  // false: "reference, not control"
  std::int64_t peak_delta_bytes = 0;
  std::optional<double> peak_delta_fraction;
  std::optional<std::int64_t> activation_delta_bytes;
  std::optional<double> activation_delta_fraction;
  std::optional<double> time_delta_fraction;            // ratio - 1
  std::optional<double> estimated_time_delta_fraction;  // the same of the estimates
  std::optional<TimeVerdict> time;                      // nullopt: too few runs to fit
  std::optional<MemoryVerdict> memory;
  bool censored = false;  // the peak sits where no label can lower it: the saving is "at least"
};

// One rank, seen in an arm and in the arm that it is set against.
struct RankInBothArms {
  std::int64_t rank = 0;
  std::int64_t num_alike = 0;  // other ranks that it stands for in a prediction
  std::int64_t pipeline_rank = 0;
  std::int64_t pipeline_size = 1;
  std::optional<RankPeak> against;  // in the other arm
  std::optional<RankPeak> own;      // in this arm
};

// Another rank has the largest peak than in the arm that this one is set against.
struct MovedHotRank {
  std::string against;  // the arm
  RankInBothArms from;  // hot there
  RankInBothArms to;    // hot here
};

// A failed arm against the control at the last step that both completed.
struct FailedComparison {
  std::optional<std::int64_t> step;  // nullopt: not comparable
  std::int64_t peak_delta_bytes = 0;
  std::optional<double> peak_delta_fraction;
};

// The failure occurred elsewhere than the control's: at another place, or on another rank.
struct MovedFailure {
  std::string against;  // the control's arm
  Failure from;         // its
  Failure to;
  bool got_further = false;
  RankInBothArms from_rank;
  RankInBothArms to_rank;
};

// Wilson interval of the share of judged runs that passed, 95 %.
struct PassRate {
  double low = 0;
  double high = 1;
};

// A field that two trials do not share, though a comparison of them wants it shared.
struct FieldDifference {
  std::string field;  // "training.seed", "machine.driver_version", ...
  std::string value;  // of this trial; empty: not recorded
  std::string against_value;
};

// A trial that may not be compared with the others of its group.
struct Unmatched {
  std::string trial_id;
  std::int64_t attempt = 1;
  std::string arm;
  std::string against;  // the trial that it was compared with
  std::vector<FieldDifference> differences;
};

// A symptom of the guide that the numbers show.
struct Diagnosis {
  std::string symptom;    // stable identifier: "core-attn-without-effect", "fragmentation", "optimizer-bound", ...
  std::string arm;        // empty: of the whole study
  std::string finding;    // with its numbers
  std::string next_step;  // what to do
  std::string why;        // why that means the symptom
  std::string ruled_out;  // what else it could have been, and the numbers that speak against it; empty: nothing
  std::string command;    // of the next step, as it is typed
};

// A symptom that could not be looked for in an arm, for want of data.
struct UnjudgedSymptom {
  std::string symptom;
  std::string arm;  // empty: of the whole study
  std::string reason;
};

struct ArmVerdict {
  std::string arm;
  std::string group_id;
  bool is_control = false;
  Outcome outcome = Outcome::kNotRun;
  std::string reason;            // why it is inactive, invalid, skipped or no pass
  std::int64_t num_planned = 0;  // trials
  std::int64_t num_judged = 0;   // trials with a conclusive attempt
  std::int64_t num_passed = 0;
  std::optional<PassRate> pass_rate;               // nullopt: none judged
  bool is_pareto = false;                          // passes, and none of its group is at most as high in peak and time and lower in one
  std::optional<protocol::Provenance> provenance;  // of its figures and of the evidence of its failure; of the first judged run that says
  std::optional<ArmFigures> figures;               // pass and borderline only
  std::optional<Effect> effect;                    // none for the arm that the others are set against
  std::string not_comparable;                      // why there is no effect though there are figures
  std::optional<Failure> failure;                  // of the first judged run that failed
  std::optional<FailedComparison> failed_comparison;
  std::optional<MovedFailure> moved;
  std::optional<MovedHotRank> hot_rank_moved;
};

// The two controls of one block, the later over the earlier.
struct ControlPair {
  std::int64_t block = 0;
  double time_difference_fraction = 0;
};

// Arms that differ in recompute alone.
struct GroupVerdict {
  std::string group_id;
  std::string variation;                     // as ArmRow's
  std::optional<std::string> reference_arm;  // what effects are given against: the control, else the narrowest passing arm
  std::vector<ControlPair> control_pairs;
  std::optional<TimeFit> fit;  // nullopt: too few runs
  std::string no_fit;          // why, and what would allow it; empty when nothing was to be fitted
};

// A difference of two means, with its 95 % interval by Welch's t.
struct MeanDifference {
  double value = 0;
  std::optional<double> low;  // nullopt: fewer than two samples of either
  std::optional<double> high;
};

// What a pair of labels does beyond the sum of what each does alone, against the control. 0: they add up.
struct Interaction {
  std::string arm;  // the pair
  std::string first;
  std::string second;
  MeanDifference activation_bytes;         // negative: the pair saves more than the sum
  std::optional<MeanDifference> log_time;  // of log step time; nullopt: a step time is missing
};

enum class Conclusion { kUsable, kCandidateFailed, kNoneMeetsBudget, kControlInvalid, kUnmatched };

// product.md's exit code of a study: 0, 4, 5, 6, 7.
int exit_code(Conclusion conclusion);

struct Answer {
  std::optional<std::string> arm;            // nullopt: none
  std::string reason;                        // one sentence
  std::optional<std::int64_t> margin_bytes;  // budget less the arm's peak allocated; set when there is a budget
  std::optional<std::string> headroom_arm;   // the first boundary to take if more headroom is wanted
  bool headroom_is_measured = false;         // it passed, with a lower peak than the answer's
  std::string scope;                         // model, attention backend, layout, revision: what the answer is about
  std::string confidence;                    // pass rate, intervals and A/A difference that it rests on
  std::vector<std::string> would_change;     // what would change it
};

struct StudyVerdict {
  std::vector<RunVerdict> runs;      // as the attempts of the study, in their order
  std::vector<ArmVerdict> arms;      // as the arms of the plan, in their order
  std::vector<GroupVerdict> groups;  // in the order of their first arm; the first is that of the sweep as it is written
  std::int64_t num_planned = 0;      // trials
  std::int64_t num_missing = 0;      // trials without a conclusive attempt
  Conclusion conclusion = Conclusion::kUsable;
  std::string conclusion_reason;
  Answer answer;
  std::vector<Interaction> interactions;  // of pairs whose labels passed alone too
  std::vector<Unmatched> unmatched;
  std::vector<Diagnosis> diagnoses;
  std::vector<UnjudgedSymptom> unjudged;
  std::vector<std::string> notes;  // moved, hot rank moved, censored, reference, incomplete
};

// nullptr: the verdict has none of that name.
const ArmVerdict* find_arm(const StudyVerdict& verdict, const std::string& arm);
// Effects of some group are given against it.
bool is_reference(const StudyVerdict& verdict, const std::string& arm);

}  // namespace rematch::base

#include "orchestrator/slurm/decide.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace rematch::slurm {

namespace {

using protocol::RunnerEnd;

// Slurm's words for jobs that would wait for ever.
constexpr std::array<std::string_view, 10> kNeverStarts = {
    "PartitionConfig", "PartitionNodeLimit", "PartitionTimeLimit", "DependencyNeverSatisfied", "BadConstraints", "AccountNotAllowed",
    "InvalidAccount",  "InvalidQOS",         "QOSNotAllowed",      "ReservationDeleted"};

bool says(const PartFacts& facts, std::string_view words) { return facts.reason.find(words) != std::string::npos; }

bool is_seen(const PartFacts& facts, JobState state) { return facts.job == JobSight::kSeen && facts.state == state; }

bool is_pending(const PartFacts& facts) { return is_seen(facts, JobState::kPending); }

bool has_ended(const PartFacts& facts) { return facts.job == JobSight::kSeen && !is_active(facts.state); }

bool is_over(const PartFacts& facts) { return has_ended(facts) || facts.job == JobSight::kGone; }

// A job that Slurm calls ended takes its runner along; one that Slurm has forgotten does not.
bool runner_lives(const PartFacts& facts) { return facts.runner_is_alive && !has_ended(facts); }

bool never_starts(const PartFacts& facts) {
  return is_pending(facts) && std::any_of(kNeverStarts.begin(), kNeverStarts.end(), [&](auto words) { return says(facts, words); });
}

bool was_cancelled(const PartFacts& facts) {
  if (facts.is_cancelled) return is_over(facts);
  return is_seen(facts, JobState::kCancelled) || (facts.job == JobSight::kGone && facts.runner_end == RunnerEnd::kInterrupted);
}

// Its runner has said how it ended, and that needs no file that may come late.
bool has_said_why(const PartFacts& facts) { return facts.runner_end && *facts.runner_end != RunnerEnd::kComplete; }

std::string slurm_words(const PartFacts& facts) {
  if (facts.job == JobSight::kGone) return "Slurm does not know its job any more";
  return "its job is " + std::string(to_string(facts.state)) + (facts.reason.empty() ? "" : " (" + facts.reason + ")");
}

// Also where to read more of a job that failed by itself.
std::string ended_words(const PartFacts& facts) {
  if (!is_seen(facts, JobState::kFailed)) return slurm_words(facts);
  return slurm_words(facts) + (facts.exit_code ? " with exit code " + std::to_string(*facts.exit_code) : "") + "; `rematch logs " +
         facts.study_id + " --job` shows what it printed";
}

// Twice alike in its set-up lines or at the runner's start. Exit code 75 is that of a runner that was interrupted.
bool never_begins(const PartFacts& facts) {
  constexpr std::int64_t kInterrupted = 75;
  return is_seen(facts, JobState::kFailed) && !facts.has_runner && facts.exit_code.value_or(0) != 0 && facts.exit_code != kInterrupted &&
         facts.exit_code == facts.exit_code_before;
}

bool never_launches(const PartFacts& facts) { return facts.runner_end == RunnerEnd::kTrialsLeft && !facts.launch_problem.empty(); }

std::string with_message(const std::string& text, const PartFacts& facts) {
  return facts.runner_message.empty() ? text : text + ": " + facts.runner_message;
}

constexpr StopKind kNoStop = StopKind::kEnvironment;

constexpr std::array kRows = {
    DecisionRow{"done", [](const PartFacts& f) { return f.is_done && !runner_lives(f); }, Step::kDone, false, kNoStop,
                [](const PartFacts&) -> std::string { return "every trial of it is done"; }},
    DecisionRow{"control-refuted", [](const PartFacts& f) { return f.runner_end == RunnerEnd::kControlRefuted; }, Step::kDone, false,
                kNoStop, [](const PartFacts&) -> std::string { return "the control is not a control"; }},
    DecisionRow{"cancelled-before", [](const PartFacts& f) { return f.is_past && was_cancelled(f) && !runner_lives(f); },
                Step::kSubmitAgain, false, kNoStop, [](const PartFacts&) -> std::string { return "it was cancelled before"; }},
    DecisionRow{"cancelled", [](const PartFacts& f) { return f.is_cancelled && is_over(f) && !runner_lives(f); }, Step::kStop, false,
                StopKind::kInterrupted, [](const PartFacts&) -> std::string { return "it was cancelled"; }},
    DecisionRow{"being-cancelled", [](const PartFacts& f) { return f.is_cancelled; }, Step::kWait, false, kNoStop,
                [](const PartFacts&) -> std::string { return "it was cancelled, and its job has not ended yet"; }},
    DecisionRow{"runner-lives", runner_lives, Step::kWait, false, kNoStop,
                [](const PartFacts&) -> std::string { return "its runner works"; }},
    DecisionRow{"state-unknown", [](const PartFacts& f) { return f.job == JobSight::kUnknown; }, Step::kWait, false, kNoStop,
                [](const PartFacts&) -> std::string { return "Slurm has not answered yet"; }},
    DecisionRow{"launch-failed", [](const PartFacts& f) { return is_pending(f) && says(f, "launch failed"); }, Step::kCancelAndSubmitAgain,
                true, kNoStop, [](const PartFacts&) -> std::string { return "a node refused to launch its job, and Slurm holds it"; }},
    DecisionRow{
        "never-starts", never_starts, Step::kCancelAndStop, false, StopKind::kEnvironment,
        [](const PartFacts& f) { return "Slurm would never start its job: " + f.reason + ". Change the launch options, then run again"; }},
    DecisionRow{"held", [](const PartFacts& f) { return is_pending(f) && says(f, "JobHeld"); }, Step::kWait, false, kNoStop,
                [](const PartFacts& f) { return "its job is held (" + f.reason + "); `scontrol release` lets it start"; }},
    DecisionRow{"queued", is_pending, Step::kWait, false, kNoStop,
                [](const PartFacts& f) { return "its job waits" + (f.reason.empty() ? "" : ": " + f.reason); }},
    DecisionRow{"active", [](const PartFacts& f) { return !is_over(f); }, Step::kWait, false, kNoStop, slurm_words},
    DecisionRow{"files-may-lag", [](const PartFacts& f) { return !has_said_why(f) && f.seconds_since_end < kFileLagSeconds; }, Step::kWait,
                false, kNoStop, [](const PartFacts& f) { return slurm_words(f) + "; its files may come a little later"; }},
    DecisionRow{"runner-failed", [](const PartFacts& f) { return f.runner_end == RunnerEnd::kFailed; }, Step::kStop, false,
                StopKind::kEnvironment, [](const PartFacts& f) { return with_message("its runner could not go on", f); }},
    DecisionRow{"cancelled-elsewhere", [](const PartFacts& f) { return is_seen(f, JobState::kCancelled); }, Step::kStop, false,
                StopKind::kInterrupted, [](const PartFacts&) -> std::string { return "its job was cancelled, not by `rematch cancel`"; }},
    DecisionRow{"stopped-and-gone", [](const PartFacts& f) { return f.job == JobSight::kGone && f.runner_end == RunnerEnd::kInterrupted; },
                Step::kStop, false, StopKind::kInterrupted, [](const PartFacts&) -> std::string { return "its runner was told to stop"; }},
    DecisionRow{"time-limit", [](const PartFacts& f) { return is_seen(f, JobState::kTimeout) && f.has_progressed; }, Step::kSubmitAgain,
                false, kNoStop, [](const PartFacts&) -> std::string { return "its job met the time limit"; }},
    DecisionRow{"time-limit-too-short", [](const PartFacts& f) { return is_seen(f, JobState::kTimeout); }, Step::kStop, false,
                StopKind::kEnvironment,
                [](const PartFacts&) -> std::string {
                  return "its job met the time limit before one block was done. Raise launch.time (--time), then run again";
                }},
    DecisionRow{
        "requeue-lost", [](const PartFacts& f) { return f.runner_end == RunnerEnd::kRequeued && f.has_progressed; }, Step::kSubmitAgain,
        false, kNoStop,
        [](const PartFacts& f) { return "its runner stopped before the time limit, and Slurm did not start it again: " + slurm_words(f); }},
    DecisionRow{"never-launches", never_launches, Step::kStop, false, StopKind::kEnvironment,
                [](const PartFacts& f) { return "none of its trials could be launched: " + f.launch_problem; }},
    DecisionRow{"never-begins", never_begins, Step::kStop, false, StopKind::kEnvironment,
                [](const PartFacts& f) { return ended_words(f) + ". So it was twice before a runner began; the set-up may be wrong"; }},
    DecisionRow{"trials-left", [](const PartFacts& f) { return f.runner_end == RunnerEnd::kTrialsLeft; }, Step::kSubmitAgain, true, kNoStop,
                [](const PartFacts& f) { return with_message("its runner could not carry out every trial", f); }},
    DecisionRow{"node-failed", [](const PartFacts& f) { return is_seen(f, JobState::kNodeFail); }, Step::kSubmitAgain, true, kNoStop,
                [](const PartFacts&) -> std::string { return "a node of its job failed"; }},
    DecisionRow{"preempted", [](const PartFacts& f) { return is_seen(f, JobState::kPreempted); }, Step::kSubmitAgain, true, kNoStop,
                [](const PartFacts&) -> std::string { return "its job was preempted and not put back into the queue"; }},
    DecisionRow{"out-of-memory", [](const PartFacts& f) { return is_seen(f, JobState::kOutOfMemory); }, Step::kSubmitAgain, true, kNoStop,
                [](const PartFacts&) -> std::string { return "its job was ended for want of host memory (launch.mem)"; }},
    DecisionRow{"stopped-short", [](const PartFacts& f) { return f.runner_end == RunnerEnd::kInterrupted && f.has_progressed; },
                Step::kSubmitAgain, false, kNoStop,
                [](const PartFacts& f) { return with_message("its runner stopped, and its job was not put back into the queue", f); }},
    DecisionRow{"job-lost", [](const PartFacts& f) { return f.job == JobSight::kGone; }, Step::kSubmitAgain, true, kNoStop, slurm_words},
    DecisionRow{"results-missing", [](const PartFacts& f) { return f.runner_end == RunnerEnd::kComplete; }, Step::kSubmitAgain, true,
                kNoStop,
                [](const PartFacts&) -> std::string { return "its runner says that it is complete, but trials of it are not done"; }},
    DecisionRow{"ended", is_over, Step::kSubmitAgain, true, kNoStop,
                [](const PartFacts& f) { return with_message(ended_words(f) + ", and not every trial of it is done", f); }},
};

Decision give_up(Decision decision) {
  decision.step = decision.step == Step::kCancelAndSubmitAgain ? Step::kCancelAndStop : Step::kStop;
  decision.stop = StopKind::kEnvironment;
  decision.is_counted = false;
  decision.reason += ". It was submitted again " + std::to_string(kMostRetries) + " times already";
  return decision;
}

}  // namespace

std::span<const DecisionRow> decision_rows() { return kRows; }

Decision decide(const PartFacts& facts, std::span<const DecisionRow> rows) {
  for (const DecisionRow& row : rows) {
    if (!row.applies(facts)) continue;
    const Decision decision{row.step, row.stop, row.is_counted, row.id, row.reason(facts)};
    return decision.is_counted && facts.num_retries >= kMostRetries ? give_up(decision) : decision;
  }
  return {Step::kWait, kNoStop, false, "", "nothing is known of it"};
}

}  // namespace rematch::slurm

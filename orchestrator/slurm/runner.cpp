#include "orchestrator/slurm/runner.h"

#include <stdlib.h>
#include <unistd.h>

#include <exception>
#include <utility>
#include <vector>

#include "orchestrator/base/random_hex.h"
#include "orchestrator/engine/claim.h"
#include "orchestrator/engine/engine.h"
#include "orchestrator/engine/held_signals.h"
#include "orchestrator/engine/part.h"
#include "orchestrator/launch/allocation.h"
#include "orchestrator/launch/host_names.h"
#include "orchestrator/launch/this_host.h"
#include "orchestrator/slurm/assignment.h"
#include "orchestrator/slurm/fruitless.h"
#include "orchestrator/slurm/overseer.h"
#include "orchestrator/slurm/own_job.h"
#include "orchestrator/slurm/parts.h"
#include "orchestrator/slurm/put_back.h"
#include "orchestrator/slurm/scratch_folder.h"
#include "schemas/protocol/submission.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::slurm {

namespace {

using engine::StopCause;
using protocol::RunnerEnd;

// Time to end cleanly where the submission asks for no signal.
constexpr std::chrono::seconds kMarginWithoutSignal{30};

// Slurm's names of the allocation's nodes, in its order; outside Slurm this host's.
std::vector<std::string> node_names(const std::string& host) {
  const auto list = launch::environment_text("SLURM_JOB_NODELIST");
  if (!list) return {host};
  auto names = launch::host_names(*list);
  return names ? std::move(names).value() : std::vector<std::string>{*list};
}

protocol::RunnerRecord describe(const Assignment& assignment) {
  protocol::RunnerRecord record;
  record.scope = protocol::scope_of(assignment.task);
  record.runner_id = base::random_hex(16);
  // Before any thread of this process is started: what it starts knows whose it is.
  ::setenv(launch::kRunnerVariable, record.runner_id.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  record.submission = assignment.submission.name;
  record.host = launch::host_name();
  record.pid = ::getpid();
  forget_other_arrays(assignment.submission.shape);
  record.allocation = launch::allocation_from_environment();
  record.nodes = node_names(record.host);
  return record;
}

// Several nodes want a step of Slurm for each attempt, and so do options that are a step's.
std::string launcher_for(const RunnerArguments& arguments) {
  if (arguments.launcher) return *arguments.launcher;
  const bool wants_step = !arguments.srun.empty() || launch::environment_number("SLURM_JOB_NUM_NODES").value_or(1) > 1;
  return wants_step ? "srun" : "local";
}

std::string why_stopped(StopCause cause) {
  switch (cause) {
    case StopCause::kSignal: return "ended by SIGTERM or SIGINT";
    case StopCause::kTimeLimit: return "the allocation's time limit is near";
    case StopCause::kTooLittleTime: return "what is left of the allocation does not suffice for another block";
    case StopCause::kSuperseded: return "a later runner has claimed this part";
    case StopCause::kCancelled: return "the submission was cancelled: no further trial was started";
    case StopCause::kNodeLost: return "the allocation lost a node";
  }
  return "";
}

// Why the last attempt that was not to be launched could not be; empty: there is none.
std::string last_launch_problem(const base::StudyRows& study) {
  const base::AttemptRows* last = nullptr;
  for (const base::AttemptRows& attempt : study.attempts)
    if (!attempt.launch.message.empty() && (last == nullptr || attempt.launch.end_unix_ns > last->launch.end_unix_ns)) last = &attempt;
  return last == nullptr ? "" : "; the last: " + last->launch.message;
}

// Whether another allocation of the same job would get further.
bool asks_for_requeue(StopCause cause) {
  return cause == StopCause::kTimeLimit || cause == StopCause::kTooLittleTime || cause == StopCause::kNodeLost;
}

class Runner {
 public:
  Runner(const RunnerArguments& arguments, Assignment assignment, Client& client, engine::Listener& listener)
      : arguments_(arguments),
        assignment_(std::move(assignment)),
        client_(client),
        listener_(listener),
        claim_(arguments.study_folder, describe(assignment_), claim_options()) {}

  RunnerResult run() {
    try {
      return work();
    } catch (const std::exception& problem) {
      claim_.finish(RunnerEnd::kFailed, problem.what());
      throw;
    }
  }

 private:
  engine::ClaimOptions claim_options() {
    engine::ClaimOptions options;
    options.overlaps = [this](const std::string& scope) { return engine::shares_trials(assignment_.plan, assignment_.task, scope); };
    options.give_up = [] { return engine::HeldSignals::pending().has_value(); };
    options.tell = [this](const std::string& message) { listener_.remarked(message); };
    return options;
  }

  RunnerResult work() {
    if (const auto refused = claim_.wait_until_granted()) {
      const auto signal = engine::HeldSignals::pending();
      if (refused->end == RunnerEnd::kInterrupted && signal) return stop(*signal, 0);
      return {refused->end, refused->message};
    }
    // The one before may have made it grow.
    auto again = read_assignment(arguments_.workspace, arguments_.study_folder, arguments_.submission);
    if (!again) return finish(RunnerEnd::kFailed, again.error().message);
    assignment_ = std::move(again).value();
    if (const std::int64_t num_died = fruitless().num_died; num_died >= kMostFruitless)
      return finish(RunnerEnd::kFailed, text_of_deaths(num_died));
    const ScratchFolder scratch;
    AllocationOverseer overseer(claim_, submission_path(), client_, listener_);
    const auto result = engine::carry_out(assignment_.plan, engine_options(scratch, overseer), listener_);
    if (!result) return finish(RunnerEnd::kFailed, result.error().message);
    return conclude(result.value());
  }

  engine::EngineOptions engine_options(const ScratchFolder& scratch, AllocationOverseer& overseer) const {
    engine::EngineOptions options;
    options.workspace = arguments_.workspace;
    options.trainer = arguments_.trainer;
    options.launcher = launcher_for(arguments_);
    options.step.num_nodes = launch::environment_number("SLURM_JOB_NUM_NODES").value_or(1);
    options.step.options = arguments_.srun;
    options.part = engine::PartOptions{assignment_.task, protocol::WorkspacePaths{scratch.path()}.database(), claim_.record().runner_id,
                                       &overseer, signal_margin(assignment_.submission.command).value_or(kMarginWithoutSignal)};
    return options;
  }

  RunnerResult conclude(const engine::EngineResult& result) {
    switch (result.end) {
      case engine::EngineEnd::kComplete: return finish(RunnerEnd::kComplete, "");
      case engine::EngineEnd::kControlRefuted: return finish(RunnerEnd::kControlRefuted, "");
      case engine::EngineEnd::kTrialsLeft:
        return finish(RunnerEnd::kTrialsLeft,
                      std::to_string(result.num_undone) + " trials could not be carried out" + last_launch_problem(result.study));
      case engine::EngineEnd::kInterrupted: break;
    }
    return stop(result.stop.value_or(StopCause::kSignal), result.num_blocks_done);
  }

  RunnerResult stop(StopCause cause, std::int64_t num_blocks_done) {
    const std::string why = why_stopped(cause);
    if (cause == StopCause::kSuperseded) return finish(RunnerEnd::kSuperseded, why);
    const auto& job = claim_.record().allocation;
    const bool was_told_to_end = engine::HeldSignals::pending() == StopCause::kSignal;
    if (!job || !asks_for_requeue(cause) || was_told_to_end) return finish(RunnerEnd::kInterrupted, why);
    if (const std::int64_t num_before = num_blocks_done == 0 ? fruitless().num() : 0; num_before >= kMostFruitless)
      return finish(RunnerEnd::kFailed, why + ", before one block was done, and so it was in the " + std::to_string(num_before) +
                                            " allocations before it. Ask for a longer time limit, or for smaller blocks");
    return put_back(claim_, submission_path(), client_, why);
  }

  // Whoever puts a job back whose node failed does not ask whether it gets any further: that is done here.
  FruitlessRunners fruitless() const {
    DoneTrials trials(assignment_.plan, engine::StudyFolder(arguments_.study_folder));
    return fruitless_runners(arguments_.study_folder, claim_.record(), trials, assignment_.task);
  }

  std::string text_of_deaths(std::int64_t num_died) const {
    DoneTrials trials(assignment_.plan, engine::StudyFolder(arguments_.study_folder));
    trials.look_again(assignment_.task);
    const auto trial = trials.in_flight(assignment_.task);
    return "wanted another block of " + claim_.record().scope + ", found that the last " + std::to_string(num_died) +
           " runners of it died without a word, with their node or killed, and got no block done" +
           (trial ? "; in flight was " + trial->arm + " (block " + std::to_string(trial->block) + ", slot " + std::to_string(trial->slot) +
                        ")"
                  : "") +
           ". See what it does to the node, then run again";
  }

  std::filesystem::path submission_path() const { return protocol::StudyPaths{arguments_.study_folder}.submission(arguments_.submission); }

  RunnerResult finish(RunnerEnd end, const std::string& message) {
    claim_.finish(end, message);
    return {end, message};
  }

  const RunnerArguments& arguments_;
  Assignment assignment_;
  Client& client_;
  engine::Listener& listener_;
  engine::Claim claim_;
};

}  // namespace

RunnerResult run_submission(const RunnerArguments& arguments, Client& client, engine::Listener& listener) {
  auto assignment = read_assignment(arguments.workspace, arguments.study_folder, arguments.submission);
  if (!assignment) return {RunnerEnd::kFailed, assignment.error().message};
  const std::string closed = closed_text(assignment.value().submission);
  if (!closed.empty()) return {RunnerEnd::kInterrupted, closed + ": nothing was started"};
  return Runner(arguments, std::move(assignment).value(), client, listener).run();
}

}  // namespace rematch::slurm

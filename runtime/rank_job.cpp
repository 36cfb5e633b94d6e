#include "runtime/rank_job.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

#include "probes/allocator/allocation_trace.h"
#include "probes/device/charge.h"
#include "probes/device/device_memory.h"
#include "probes/host/build_id.h"
#include "probes/host/host_identity.h"
#include "runtime/base/errors.h"
#include "runtime/base/log.h"
#include "runtime/base/scope.h"
#include "runtime/base/torch_compat.h"
#include "runtime/check_trial.h"
#include "runtime/comm/activity.h"
#include "runtime/comm/backends.h"
#include "runtime/join_job.h"
#include "runtime/peers/watch.h"
#include "runtime/rank_end.h"
#include "runtime/recompute/policy.h"
#include "runtime/train/built_model.h"
#include "runtime/train/recorder.h"
#include "runtime/train/saved_report.h"
#include "runtime/train/trainer.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::runtime {

namespace {

using protocol::FailureKind;
using protocol::Stage;
using protocol::TrainExit;

protocol::MachineSetting machine_of(const protocol::Trial& trial, const probes::DeviceMemory& memory) {
  protocol::MachineSetting machine = memory.machine_setting();
  if (comm_backend_of(trial) == "nccl") machine.nccl_version = comm::nccl_version();
  return machine;
}

protocol::HelloRecord hello_record(const protocol::Trial& trial, const RankEnvironment& environment, const probes::DeviceMemory& memory,
                                   const protocol::RecomputeSpec& resolved) {
  return {.trial_id = trial.trial_id,
          .rank = environment.rank,
          .world_size = environment.world_size,
          .local_rank = environment.local_rank,
          .host = probes::host_name(),
          .pid = ::getpid(),
          .device = trial.backend.device,
          .device_name = memory.device_name(),
          .provenance = memory.provenance(),
          .build_id = probes::build_id(),
          .libtorch_version = TORCH_VERSION,
          .comm_backend = comm_backend_of(trial),
          .omp_num_threads = trial.omp_num_threads,
          .resolved_recompute = resolved,
          .machine = machine_of(trial, memory)};
}

// One rank at work. Outlives main: other threads may write through it at any time.
class RankJob {
 public:
  RankJob(const protocol::Trial& trial, const RankEnvironment& environment, const protocol::AttemptPaths& paths, const RankOutputs& outputs)
      : trial_(trial),
        environment_(environment),
        outputs_(outputs),
        memory_(make_memory(trial, environment)),
        writer_(paths.rank_record(environment.rank)),
        recorder_(writer_, *memory_) {}

  // Before run.
  void record_allocations(std::unique_ptr<probes::AllocationTraceWriter> trace) { memory_->record_allocations(std::move(trace)); }

  [[noreturn]] void run(const sigset_t& signals, const protocol::RecomputeSpec& resolved) {
    recorder_.hello(hello_record(trial_, environment_, *memory_, resolved));
    recorder_.enter(Stage::kSpawned);
    watch_signals(signals, recorder_, end_);
    recorder_.leave(Stage::kSpawned);
    const auto exit_code = guarded([&] { train_rank(resolved); });
    if (watch_) watch_->leave();
    // Not by return: a communication thread may wait for a peer that is gone.
    std::fflush(nullptr);
    ::_exit(static_cast<int>(exit_code));
  }

 private:
  void train_rank(const protocol::RecomputeSpec& resolved) {
    recorder_.enter(Stage::kJoined);
    store_ = meet_peers(trial_, environment_);
    watch_ = watch_peers(trial_, environment_, activity_, [this](const peers::PeerFailure& failure) { return give_up(failure); });
    // Never destroyed: after a failure groups might wait for peers before these are told of it.
    const auto& mesh = *std::make_unique<mesh::Mesh>(form_groups(trial_, environment_, store_, &activity_)).release();
    recorder_.leave(Stage::kJoined);
    const auto steps = train::train({trial_, resolved, mesh, *memory_, outputs_.gradient_log_folder}, recorder_);
    mesh.world().barrier();  // nobody leaves while a peer still talks
    memory_->end_recording();
    end_.say(TrainExit::kDone, [&] {
      recorder_.enter(Stage::kDone);
      recorder_.leave(Stage::kDone);
      recorder_.bye(TrainExit::kDone, steps);
    });
  }

  // Runs `body`; a failure becomes a record line, a word to the peers, and an exit code.
  template <typename Body>
  TrainExit guarded(const Body& body) {
    try {
      body();
      return end_.say(TrainExit::kDone, [] {});
    } catch (const c10::OutOfMemoryError& error) {
      return out_of_memory(error.what_without_backtrace());
    } catch (const base::NumericsError& error) {
      return failed(FailureKind::kNumerics, TrainExit::kNumerics, error);
    } catch (const base::CommError& error) {
      return lost_peers(error);
    } catch (const base::BadTrial& error) {
      return failed(FailureKind::kBadExit, TrainExit::kBadTrial, error);
    } catch (const std::bad_alloc& error) {
      return failed(FailureKind::kHostOom, TrainExit::kInternal, error);
    } catch (const std::exception& error) {
      return failed(FailureKind::kBadExit, TrainExit::kInternal, error);
    }
  }

  // Of a rank that has failed already, which is what its record says.
  void end_recording_or_log() {
    try {
      memory_->end_recording();
    } catch (const std::system_error& error) {
      base::log_line(error.what());
    }
  }

  TrainExit out_of_memory(const std::string& message) {
    end_recording_or_log();
    const auto exit_code = end_.say(TrainExit::kOutOfMemory, [&] { recorder_.out_of_memory(message, base::failed_module_path()); });
    return tell(exit_code, message);
  }

  TrainExit failed(FailureKind kind, TrainExit exit_code, const std::exception& error) {
    end_recording_or_log();
    return tell(end_.say(exit_code, [&] { recorder_.failed(kind, exit_code, error.what()); }), error.what());
  }

  TrainExit tell(TrainExit exit_code, const std::string& message) {
    base::log_line(message);
    if (watch_) watch_->report(message);
    return exit_code;
  }

  TrainExit lost_peers(const base::CommError& error) {
    if (!watch_) return failed(FailureKind::kComm, TrainExit::kCommunication, error);
    const auto [end, failure] = watch_->explain(error.what());
    if (failure.rank != environment_.rank || failure.reporter != environment_.rank) return TrainExit{give_up(failure)};
    const auto kind = end == peers::CollectiveEnd::kTimedOut ? FailureKind::kTimeout : FailureKind::kComm;
    base::log_line(failure.reason);
    return end_.say(TrainExit::kCommunication, [&] { recorder_.failed(kind, TrainExit::kCommunication, failure.reason); });
  }

  // Last words of a rank whose job failed elsewhere; or here, as the peers saw it while this rank did not answer.
  int give_up(const peers::PeerFailure& failure) {
    const bool by_peers = failure.rank == environment_.rank;
    const auto kind = by_peers ? FailureKind::kTimeout : FailureKind::kComm;
    const auto exit_code = by_peers ? TrainExit::kDeadline : TrainExit::kCommunication;
    std::string culprit = failure.rank == peers::kNoRank ? "the job" : "rank " + std::to_string(failure.rank);
    if (!failure.host.empty()) culprit += " on " + failure.host;
    const auto message = by_peers ? "the other ranks gave this one up: " + failure.reason : culprit + " failed: " + failure.reason;
    const auto failed_rank = by_peers || failure.rank == peers::kNoRank ? std::nullopt : std::optional<std::int64_t>(failure.rank);
    base::log_line(message);
    return static_cast<int>(end_.say(exit_code, [&] { recorder_.failed(kind, exit_code, message, failed_rank); }));
  }

  protocol::Trial trial_;
  RankEnvironment environment_;
  RankOutputs outputs_;
  std::unique_ptr<probes::DeviceMemory> memory_;
  protocol::RecordWriter writer_;
  train::Recorder recorder_;
  comm::Activity activity_;
  RankEnd end_;
  c10::intrusive_ptr<c10d::Store> store_;  // rank 0 serves it until its peers have left
  peers::Watch* watch_ = nullptr;
};

void prepare_libtorch(const protocol::Trial& trial) {
  // cuBLAS sums in one fixed order only with a workspace of its own; LibTorch refuses deterministic work without it.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::set_num_threads(static_cast<int>(trial.omp_num_threads));
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

// Null where none is wanted.
std::unique_ptr<probes::AllocationTraceWriter> begin_trace(const RankOutputs& outputs) {
  if (!outputs.allocation_trace) return nullptr;
  try {
    return std::make_unique<probes::AllocationTraceWriter>(*outputs.allocation_trace);
  } catch (const std::system_error& error) {
    throw BadOutput(std::string("--allocation-trace: wanted a file that can be begun and is not there yet, found: ") + error.what());
  }
}

[[noreturn]] void run_trial(const protocol::Trial& trial, const protocol::AttemptPaths& paths, const RankEnvironment& environment,
                            const RankOutputs& outputs) {
  const auto signals = take_signals();
  prepare_libtorch(trial);
  const auto resolved = recompute::resolve(trial.recompute);
  check_labels(resolved);
  auto trace = begin_trace(outputs);
  auto& job = *new RankJob(trial, environment, paths, outputs);
  job.record_allocations(std::move(trace));
  job.run(signals, resolved);
}

// Reads and checks the trial; one that cannot be carried out is said on stderr.
template <typename Body>
TrainExit with_checked_trial(const std::string& trial_path, const RankEnvironment& environment, const Body& body) {
  try {
    const auto trial = protocol::read_trial(trial_path);
    base::set_log_stamp(probes::host_name(), environment.rank, trial.trial_id);
    check_trial(trial, environment);
    return body(trial);
  } catch (const protocol::DocumentError& error) {
    base::log_line(error.what());
  } catch (const base::BadTrial& error) {
    base::log_line(error.what());
  }
  return TrainExit::kBadTrial;
}

}  // namespace

TrainExit run_rank(const std::string& trial_path, const RankEnvironment& environment, const RankOutputs& outputs) {
  const protocol::AttemptPaths paths{std::filesystem::absolute(trial_path).parent_path()};
  return with_checked_trial(trial_path, environment,
                            [&](const protocol::Trial& trial) -> TrainExit { run_trial(trial, paths, environment, outputs); });
}

TrainExit list_saved_tensors(const std::string& trial_path, const RankEnvironment& environment) {
  return with_checked_trial(trial_path, environment, [&](const protocol::Trial& trial) {
    prepare_libtorch(trial);
    const auto resolved = recompute::resolve(trial.recompute);
    check_labels(resolved);
    auto& memory = *make_memory(trial, environment).release();  // tensors outlive main
    const auto store = meet_peers(trial, environment);
    const auto mesh = form_groups(trial, environment, store, nullptr);
    const probes::DeviceScope charged;
    train::BuiltModel built(trial, resolved, mesh);
    std::fputs(train::saved_tensor_table(train::held_for_backward(built, mesh, memory)).c_str(), stdout);
    mesh.world().barrier();
    return TrainExit::kDone;
  });
}

}  // namespace rematch::runtime

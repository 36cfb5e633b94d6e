#include "runtime/rank_job.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/util/Exception.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <utility>

#include "probes/device/charge.h"
#include "probes/device/device_memory.h"
#include "probes/host/build_id.h"
#include "probes/host/host_identity.h"
#include "runtime/base/errors.h"
#include "runtime/base/log.h"
#include "runtime/base/scope.h"
#include "runtime/base/torch_compat.h"
#include "runtime/comm/backends.h"
#include "runtime/mesh/mesh.h"
#include "runtime/models/model.h"
#include "runtime/nn/context_chunks.h"
#include "runtime/recompute/policy.h"
#include "runtime/train/built_model.h"
#include "runtime/train/recorder.h"
#include "runtime/train/saved_report.h"
#include "runtime/train/trainer.h"
#include "schemas/protocol/document_error.h"
#include "schemas/protocol/optimizer_problems.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/trial_paths.h"

namespace rematch::runtime {

namespace {

using protocol::FailureKind;
using protocol::Stage;
using protocol::TrainExit;

int number_from(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return otherwise;
  try {
    return std::stoi(text);
  } catch (const std::exception&) {
    throw std::invalid_argument(std::string(variable) + ": wanted a number, found '" + text + "'");
  }
}

void require(bool holds, const std::string& message) {
  if (!holds) throw base::BadTrial(message);
}

void check_features(const protocol::FeatureSpec& features) {
  require(!features.fp8 && features.cuda_graph_impl == "none" && !features.cpu_offloading,
          "features: this trainer has none of fp8, cuda_graph_impl, cpu_offloading; switch them off");
}

bool has_shared_experts(const protocol::ModelSpec& model) {
  const auto width = model.fields.find("moe_shared_expert_intermediate_size");
  return width != model.fields.end() && std::get<std::int64_t>(width->second) > 0;
}

void check_shared_expert_overlap(const protocol::Trial& trial) {
  if (!trial.features.moe_shared_expert_overlap) return;
  require(
      has_shared_experts(trial.model),
      "features.moe_shared_expert_overlap: wanted false in a model without shared experts (moe_shared_expert_intermediate_size 0 or none), "
      "found true");
  const auto& labels = trial.recompute.recompute_modules;
  const bool selects = trial.recompute.recompute_granularity == "selective" && labels &&
                       std::find(labels->begin(), labels->end(), "shared_experts") != labels->end();
  require(!selects,
          "recompute.recompute_modules: wanted no shared_experts with moe_shared_expert_overlap, found it; overlapped shared experts run "
          "outside "
          "the checkpointed call (Megatron's rule L6)");
}

void check_optimizer(const protocol::OptimizerSpec& optimizer) {
  for (const auto& [option, message] : protocol::optimizer_problems(optimizer))
    throw base::BadTrial("optimizer." + option + ": " + message);
  for (const auto& [option, found] :
       {std::pair("exp_avg_dtype", optimizer.exp_avg_dtype), std::pair("exp_avg_sq_dtype", optimizer.exp_avg_sq_dtype)})
    require(found == "fp32" || found == "bf16",
            std::string("optimizer.") + option + ": this trainer has moments in fp32 and bf16, found '" + found + "'; write one of these");
}

// Each tensor-parallel rank has the same number of positions.
void check_row_shards(const protocol::Trial& trial) {
  const auto num_shards = trial.parallel.tensor_model_parallel_size * trial.parallel.context_parallel_size;
  require(!trial.parallel.sequence_parallel || trial.training.seq_length % num_shards == 0,
          "training.seq_length: with sequence_parallel wanted a multiple of tensor_model_parallel_size * context_parallel_size (" +
              std::to_string(num_shards) + "), found " + std::to_string(trial.training.seq_length));
}

// With one tensor-parallel rank there is nothing to distribute, with sequence parallelism the saved input is its own rows already.
void check_distribution(const protocol::Trial& trial) {
  require(!trial.recompute.distribute_saved_activations || !trial.parallel.sequence_parallel,
          "recompute.distribute_saved_activations: wanted false with sequence_parallel, found true");
  require(!trial.recompute.distribute_saved_activations || trial.parallel.tensor_model_parallel_size > 1,
          "recompute.distribute_saved_activations: wanted false with tensor_model_parallel_size 1, found true");
}

// What the controller checks before a launch, checked again: a trial may be run by hand.
void check_context_parallelism(const protocol::Trial& trial) {
  const auto size = trial.parallel.context_parallel_size;
  if (size == 1) return;
  const auto chunks = nn::num_context_chunks(size);
  require(trial.training.seq_length % chunks == 0, "training.seq_length: wanted a multiple of 2 * context_parallel_size (" +
                                                       std::to_string(chunks) + "), since each rank has two chunks of a sequence, found " +
                                                       std::to_string(trial.training.seq_length));
  require(trial.backend.attention == "fused", "backend.attention: wanted fused with context_parallel_size " + std::to_string(size) +
                                                  ", found " + trial.backend.attention + "; unfused attention has no context parallelism");
}

void check_trial(const protocol::Trial& trial, const RankEnvironment& environment) {
  require(trial.parallel.world_size == environment.world_size, "parallel.world_size is " + std::to_string(trial.parallel.world_size) +
                                                                   ", but WORLD_SIZE is " + std::to_string(environment.world_size) +
                                                                   ": start as many ranks as the trial wants");
  require(environment.rank >= 0 && environment.rank < environment.world_size,
          "RANK: wanted 0 to " + std::to_string(environment.world_size - 1) + ", found " + std::to_string(environment.rank));
  check_features(trial.features);
  check_shared_expert_overlap(trial);
  const auto problems = protocol::parallel_problems(trial.parallel);
  require(problems.empty(), problems.empty() ? "" : "parallel: " + problems.front());
  require(trial.backend.device != "cuda" || probes::built_with_cuda(),
          "backend.device: cuda wants a trainer built with WITH_CUDA=ON (preset cuda); this one was built without");
  const protocol::ParallelDims dims(trial.parallel);
  require(trial.parallel.pipeline_model_parallel_size == 1,
          "parallel.pipeline_model_parallel_size: wanted 1, found " + std::to_string(trial.parallel.pipeline_model_parallel_size));
  check_context_parallelism(trial);
  check_row_shards(trial);
  require(trial.training.global_batch_size % (trial.training.micro_batch_size * dims.data_parallel_size()) == 0,
          "training.global_batch_size must be a multiple of micro_batch_size * data parallel size (" +
              std::to_string(trial.training.micro_batch_size * dims.data_parallel_size()) + "), found " +
              std::to_string(trial.training.global_batch_size));
  require(trial.training.bf16, "training.bf16: this trainer has bf16 parameters only");
  check_optimizer(trial.optimizer);
  check_distribution(trial);
  require(
      trial.trainer_build_id.empty() || trial.trainer_build_id == probes::build_id(),
      "trainer_build_id: the trial wants build " + trial.trainer_build_id + ", this is " + probes::build_id() + "; plan the sweep again");
}

bool has_unit(const std::string& label) {
  for (const auto* family : models::families())
    for (const auto& row : family->describe().labels)
      if (row.label == label && !row.per_layer.empty()) return true;
  return false;
}

// What the labels come to in this trainer: one that Megatron Core has and no family here is refused; under full recompute none has an
// effect.
void check_labels(const protocol::RecomputeSpec& resolved) {
  if (!resolved.recompute_granularity || !resolved.recompute_modules) return;
  if (*resolved.recompute_granularity == "full") {
    if (!resolved.recompute_modules->empty() && resolved.recompute_modules != std::vector<std::string>{"core_attn"})
      base::log_line("recompute_modules has no effect under full recompute");
    return;
  }
  for (const auto& label : *resolved.recompute_modules)
    require(has_unit(label), "recompute.recompute_modules: Megatron Core " + resolved.core_revision + " knows '" + label +
                                 "', but no model family of this trainer has such a unit; leave it out");
}

std::unique_ptr<probes::DeviceMemory> make_memory(const protocol::Trial& trial, const RankEnvironment& environment) {
  if (trial.backend.device == "cpu") return probes::make_modelled_cpu_memory(trial.backend.memory_limit_bytes);
  if (trial.backend.device == "meta") return probes::make_modelled_meta_memory(trial.backend.memory_limit_bytes);
  return probes::make_cuda_memory(environment.local_rank, trial.backend.memory_limit_bytes);
}

at::Device device_of(const protocol::Trial& trial, const RankEnvironment& environment) {
  if (trial.backend.device == "cpu") return at::kCPU;
  if (trial.backend.device == "meta") return at::kMeta;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(environment.local_rank)};
}

std::string comm_backend_of(const protocol::Trial& trial) {
  if (trial.backend.device == "meta") return "fake";
  if (trial.backend.device == "cuda") return "nccl";
  return trial.parallel.world_size == 1 ? "single" : "gloo";
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
          .resolved_recompute = resolved};
}

sigset_t block_end_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// SIGTERM and SIGINT end the rank at once with a last line; a thread waits for them so that no handler has to write.
void watch_signals(const sigset_t& signals, train::Recorder& recorder) {
  std::thread([signals, &recorder] {
    int signal = 0;
    sigwait(&signals, &signal);
    recorder.failed(FailureKind::kInterrupted, TrainExit::kInterrupted, "ended by signal " + std::to_string(signal));
    ::_exit(static_cast<int>(TrainExit::kInterrupted));
  }).detach();
}

// Meets the other ranks.
mesh::Mesh join_mesh(const protocol::Trial& trial, const RankEnvironment& environment) {
  const std::chrono::milliseconds timeout(trial.timeout_ms);
  c10::intrusive_ptr<c10d::Store> store;
  const bool needs_store = trial.backend.device != "meta" && (environment.world_size > 1 || trial.backend.device == "cuda");
  if (needs_store)
    store = comm::meet({environment.master_addr, environment.master_port, environment.rank, environment.world_size, timeout});
  return {trial.parallel,
          {.backend = comm_backend_of(trial), .rank = environment.rank, .device = device_of(trial, environment), .timeout = timeout},
          store};
}

void train_rank(const protocol::Trial& trial, const RankEnvironment& environment, const protocol::RecomputeSpec& resolved,
                probes::DeviceMemory& memory, train::Recorder& recorder, const std::optional<std::string>& gradient_log_folder) {
  recorder.enter(Stage::kJoined);
  const auto mesh = join_mesh(trial, environment);
  recorder.leave(Stage::kJoined);
  const auto steps = train::train({trial, resolved, mesh, memory, gradient_log_folder}, recorder);
  mesh.world().barrier();  // nobody leaves while a peer still talks
  recorder.enter(Stage::kDone);
  recorder.leave(Stage::kDone);
  recorder.bye(TrainExit::kDone, steps);
}

// Runs `body`; a failure becomes a record line and an exit code.
template <typename Body>
TrainExit guarded(train::Recorder& recorder, const Body& body) {
  const auto failed = [&](FailureKind kind, TrainExit exit_code, const std::exception& error) {
    recorder.failed(kind, exit_code, error.what());
    base::log_line(error.what());
    return exit_code;
  };
  try {
    body();
    return TrainExit::kDone;
  } catch (const c10::OutOfMemoryError& error) {
    recorder.out_of_memory(error.what_without_backtrace(), base::failed_module_path());
    base::log_line(error.what_without_backtrace());
    return TrainExit::kOutOfMemory;
  } catch (const base::NumericsError& error) {
    return failed(FailureKind::kNumerics, TrainExit::kNumerics, error);
  } catch (const base::CommError& error) {
    return failed(FailureKind::kComm, TrainExit::kCommunication, error);
  } catch (const base::BadTrial& error) {
    return failed(FailureKind::kBadExit, TrainExit::kBadTrial, error);
  } catch (const std::bad_alloc& error) {
    return failed(FailureKind::kHostOom, TrainExit::kInternal, error);
  } catch (const std::exception& error) {
    return failed(FailureKind::kBadExit, TrainExit::kInternal, error);
  }
}

void prepare_libtorch(const protocol::Trial& trial) {
  // cuBLAS sums in one fixed order only with a workspace of its own; LibTorch refuses deterministic work without it.
  ::setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::set_num_threads(static_cast<int>(trial.omp_num_threads));
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

[[noreturn]] void run_trial(const protocol::Trial& trial, const protocol::AttemptPaths& paths, const RankEnvironment& environment,
                            const std::optional<std::string>& gradient_log_folder) {
  const auto signals = block_end_signals();  // before any thread is made: all inherit it
  prepare_libtorch(trial);
  const auto resolved = recompute::resolve(trial.recompute);
  check_labels(resolved);
  // These three outlive everything: the signal thread may write at any time.
  auto& memory = *make_memory(trial, environment).release();
  auto& writer = *new protocol::RecordWriter(paths.rank_record(environment.rank));
  auto& recorder = *new train::Recorder(writer, memory);
  recorder.hello(hello_record(trial, environment, memory, resolved));
  recorder.enter(Stage::kSpawned);
  watch_signals(signals, recorder);
  recorder.leave(Stage::kSpawned);
  const auto exit_code = guarded(recorder, [&] { train_rank(trial, environment, resolved, memory, recorder, gradient_log_folder); });
  // Not by return: a communication thread may wait for a peer that is gone.
  std::fflush(nullptr);
  ::_exit(static_cast<int>(exit_code));
}

}  // namespace

RankEnvironment read_rank_environment() {
  const char* address = std::getenv("MASTER_ADDR");
  return {.rank = number_from("RANK", 0),
          .local_rank = number_from("LOCAL_RANK", 0),
          .world_size = number_from("WORLD_SIZE", 1),
          .master_addr = address == nullptr ? "127.0.0.1" : address,
          .master_port = number_from("MASTER_PORT", 29500)};
}

namespace {

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

TrainExit run_rank(const std::string& trial_path, const RankEnvironment& environment,
                   const std::optional<std::string>& gradient_log_folder) {
  const protocol::AttemptPaths paths{std::filesystem::absolute(trial_path).parent_path()};
  return with_checked_trial(trial_path, environment,
                            [&](const protocol::Trial& trial) -> TrainExit { run_trial(trial, paths, environment, gradient_log_folder); });
}

TrainExit list_saved_tensors(const std::string& trial_path, const RankEnvironment& environment) {
  return with_checked_trial(trial_path, environment, [&](const protocol::Trial& trial) {
    prepare_libtorch(trial);
    const auto resolved = recompute::resolve(trial.recompute);
    check_labels(resolved);
    auto& memory = *make_memory(trial, environment).release();  // tensors outlive main
    const auto mesh = join_mesh(trial, environment);
    const probes::DeviceScope charged;
    train::BuiltModel built(trial, resolved, mesh);
    std::fputs(train::saved_tensor_table(train::held_for_backward(built, memory)).c_str(), stdout);
    mesh.world().barrier();
    return TrainExit::kDone;
  });
}

}  // namespace rematch::runtime

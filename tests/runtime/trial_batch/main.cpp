// One rank of many trials of one layout in one process, one after the other over the same process groups: starting a process and meeting
// the other ranks costs more than a tiny trial does. Everything of a trial is the trainer's own code and record. On cpu or meta; on meta no
// rank is met.
// usage: trial_batch TRIAL.json... with torchrun's variables. Each record and gradient log goes beside its trial.
#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <unistd.h>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "probes/device/device_memory.h"
#include "runtime/base/log.h"
#include "runtime/comm/rendezvous.h"
#include "runtime/mesh/mesh.h"
#include "runtime/recompute/policy.h"
#include "runtime/train/recorder.h"
#include "runtime/train/trainer.h"
#include "schemas/protocol/record_file.h"
#include "schemas/protocol/trial.h"
#include "schemas/protocol/trial_paths.h"

namespace {

using namespace rematch;

int number(const char* variable) { return std::atoi(std::getenv(variable)); }

mesh::Mesh join(const protocol::Trial& trial, int rank) {
  const std::chrono::milliseconds timeout(trial.collective_timeout_ms);
  const int world_size = number("WORLD_SIZE");
  if (trial.backend.device == "meta")
    return {trial.parallel, {.backend = "fake", .rank = rank, .device = at::kMeta, .timeout = timeout}, {}};
  c10::intrusive_ptr<c10d::Store> store;
  if (world_size > 1) store = comm::meet({std::getenv("MASTER_ADDR"), number("MASTER_PORT"), rank, world_size, timeout});
  return {trial.parallel, {.backend = world_size > 1 ? "gloo" : "single", .rank = rank, .timeout = timeout}, store};
}

std::unique_ptr<probes::DeviceMemory> make_memory(const protocol::Trial& trial) {
  return trial.backend.device == "meta" ? probes::make_modelled_meta_memory({}) : probes::make_modelled_cpu_memory({});
}

void carry_out(const std::string& path, const mesh::Mesh& mesh, probes::DeviceMemory& memory) {
  const auto trial = protocol::read_trial(path);
  const auto folder = std::filesystem::absolute(path).parent_path();
  base::set_log_stamp("batch", mesh.rank(), folder.filename().string());
  protocol::RecordWriter writer(protocol::AttemptPaths{folder}.rank_record(mesh.rank()));
  train::Recorder recorder(writer, memory);
  const auto resolved = recompute::resolve(trial.recompute);
  const auto steps = train::train({trial, resolved, mesh, memory, folder.string()}, recorder);
  mesh.world().barrier();
  recorder.bye(protocol::TrainExit::kDone, steps);
}

int run(const std::vector<std::string>& paths) {
  std::signal(SIGPIPE, SIG_IGN);  // Gloo writes to connections that a failed peer has closed
  const int rank = number("RANK");
  const auto first = protocol::read_trial(paths.front());
  at::set_num_threads(static_cast<int>(first.omp_num_threads));
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  auto& memory = *make_memory(first).release();  // tensors outlive main
  const auto mesh = join(first, rank);
  for (const auto& path : paths) carry_out(path, mesh, memory);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int code = 1;
  try {
    code = run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    base::log_line(error.what());
  }
  std::fflush(nullptr);
  ::_exit(code);  // a communication thread may wait for a peer that is gone
}

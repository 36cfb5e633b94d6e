#include "runtime/join_job.h"

#include <chrono>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "runtime/comm/rendezvous.h"

namespace rematch::runtime {

namespace {

using std::chrono::milliseconds;

at::Device device_of(const protocol::Trial& trial, const RankEnvironment& environment) {
  if (trial.backend.device == "cpu") return at::kCPU;
  if (trial.backend.device == "meta") return at::kMeta;
  return {at::kCUDA, static_cast<c10::DeviceIndex>(environment.local_rank)};
}

comm::Rendezvous rendezvous_of(const RankEnvironment& environment, milliseconds timeout) {
  return {.host = environment.master_addr,
          .port = environment.master_port,
          .rank = environment.rank,
          .world_size = environment.world_size,
          .timeout = timeout,
          .store_host = environment.store_host,
          .key_prefix = environment.key_prefix};
}

bool has_peers(const protocol::Trial& trial, const RankEnvironment& environment) {
  return trial.backend.device != "meta" && environment.world_size > 1;
}

comm::NetworkDevice network_of(const protocol::Trial& trial, const RankEnvironment& environment) {
  if (comm_backend_of(trial) != "gloo") return {};
  return comm::network_device_towards(environment.master_addr, environment.master_port, environment.span());
}

}  // namespace

std::unique_ptr<probes::DeviceMemory> make_memory(const protocol::Trial& trial, const RankEnvironment& environment) {
  const probes::AllocatorOptions options{
      .capacity_bytes = trial.backend.memory_limit_bytes,
      .segments = trial.backend.expandable_segments ? probes::SegmentKind::kExpandable : probes::SegmentKind::kFixed};
  if (trial.backend.device == "cpu") return probes::make_modelled_cpu_memory(options);
  if (trial.backend.device == "meta") return probes::make_modelled_meta_memory(options);
  return probes::make_cuda_memory(environment.local_rank, options);
}

std::string comm_backend_of(const protocol::Trial& trial) {
  if (trial.backend.device == "meta") return "fake";
  if (trial.backend.device == "cuda") return "nccl";
  return trial.parallel.world_size == 1 ? "single" : "gloo";
}

c10::intrusive_ptr<c10d::Store> meet_peers(const protocol::Trial& trial, const RankEnvironment& environment) {
  if (!has_peers(trial, environment) && trial.backend.device != "cuda") return {};
  network_of(trial, environment);  // one that peers could not use is said before they are waited for
  auto store = comm::meet(rendezvous_of(environment, milliseconds(trial.timeout_ms)));
  store->setTimeout(milliseconds(trial.collective_timeout_ms));  // from here on ranks wait for each other
  return store;
}

peers::Watch* watch_peers(const protocol::Trial& trial, const RankEnvironment& environment, const comm::Activity& activity,
                          const peers::GiveUp& give_up) {
  if (!has_peers(trial, environment)) return nullptr;
  const milliseconds timeout(trial.collective_timeout_ms);
  const peers::LookoutRequest request{.rank = environment.rank,
                                      .dims = protocol::ParallelDims(trial.parallel),
                                      .collective_timeout = timeout,
                                      .rank_zero_serves = environment.store_host == comm::StoreHost::kRankZero,
                                      .activity = &activity};
  return new peers::Watch(request, comm::connect_again(rendezvous_of(environment, timeout)), give_up);
}

mesh::Mesh form_groups(const protocol::Trial& trial, const RankEnvironment& environment, const c10::intrusive_ptr<c10d::Store>& store,
                       comm::Activity* activity) {
  const mesh::MeshRequest request{.backend = comm_backend_of(trial),
                                  .rank = environment.rank,
                                  .device = device_of(trial, environment),
                                  .timeout = milliseconds(trial.collective_timeout_ms),
                                  .network = network_of(trial, environment),
                                  .activity = activity};
  if (activity) activity->begin(protocol::axis_name(protocol::Axis::kWorld), "forming groups");
  mesh::Mesh mesh(trial.parallel, request, store);
  if (activity) activity->end();
  return mesh;
}

}  // namespace rematch::runtime

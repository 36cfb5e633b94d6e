// How a rank takes its place in the job: its device, its backend, the rendezvous with the other ranks, and the process groups.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "probes/device/device_memory.h"
#include "runtime/comm/activity.h"
#include "runtime/mesh/mesh.h"
#include "runtime/peers/watch.h"
#include "runtime/rank_environment.h"
#include "schemas/protocol/trial.h"

namespace rematch::runtime {

std::unique_ptr<probes::DeviceMemory> make_memory(const protocol::Trial& trial, const RankEnvironment& environment);
std::string comm_backend_of(const protocol::Trial& trial);

// Null where nobody is to be met: one rank, or none but on paper (meta). Throws base::CommError.
c10::intrusive_ptr<c10d::Store> meet_peers(const protocol::Trial& trial, const RankEnvironment& environment);
// Null where there are no peers. The watch is never destroyed. Throws base::CommError.
peers::Watch* watch_peers(const protocol::Trial& trial, const RankEnvironment& environment, const comm::Activity& activity,
                          const peers::GiveUp& give_up);
// Collective over all ranks that met at `store`. Throws base::CommError.
mesh::Mesh form_groups(const protocol::Trial& trial, const RankEnvironment& environment, const c10::intrusive_ptr<c10d::Store>& store,
                       comm::Activity* activity);

}  // namespace rematch::runtime

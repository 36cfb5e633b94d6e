// ParallelDims + the process groups of this rank, by axis. Made once after the ranks have met.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/comm_log.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/network_device.h"
#include "schemas/protocol/parallel_dims.h"

namespace c10d {
class Store;
}
namespace rematch::comm {
class Activity;
}

namespace rematch::mesh {

struct MeshRequest {
  std::string backend;  // a name of comm::backend_names
  int rank = 0;
  at::Device device = at::kCPU;
  std::chrono::milliseconds timeout{0};  // of every collective
  comm::NetworkDevice network = {};      // for Gloo
  comm::Activity* activity = nullptr;    // hears of every collective; outlives the mesh
};

// What flows between pipeline ranks: activations to the next one (the last one's to the first, from chunk to chunk), gradients back.
enum class PipelineFlow { kActivations, kGradients };

class Mesh {
 public:
  // Collective: every rank of the job calls it. A group of one rank gets the `single` backend, but over NCCL. Axes with the same ranks
  // share one process group.
  Mesh(const protocol::ParallelSpec& spec, const MeshRequest& request, const c10::intrusive_ptr<c10d::Store>& store);

  int rank() const { return rank_; }
  at::Device device() const { return device_; }
  const protocol::ParallelDims& dims() const { return dims_; }

  const comm::Communicator& group(protocol::Axis axis) const { return groups_[static_cast<std::size_t>(axis)]; }
  const comm::Communicator& world() const { return group(protocol::Axis::kWorld); }
  const comm::Communicator& tensor() const { return group(protocol::Axis::kTensor); }
  const comm::Communicator& context() const { return group(protocol::Axis::kContext); }
  const comm::Communicator& data() const { return group(protocol::Axis::kData); }
  const comm::Communicator& pipeline() const { return group(protocol::Axis::kPipeline); }
  const comm::Communicator& data_context() const { return group(protocol::Axis::kDataContext); }
  const comm::Communicator& expert() const { return group(protocol::Axis::kExpert); }
  const comm::Communicator& expert_tensor() const { return group(protocol::Axis::kExpertTensor); }
  const comm::Communicator& expert_data() const { return group(protocol::Axis::kExpertData); }

  // For what `sender` (a position in the pipeline) sends. Each pair of ranks has one direction in each of these groups: NCCL carries out
  // what two ranks do with each other in order, so two of them that first send and then receive would wait for ever.
  const comm::Communicator& pipeline_link(PipelineFlow flow, int sender) const {
    return pipeline_links_[static_cast<std::size_t>(2 * static_cast<int>(flow) + sender % 2)];
  }

  comm::CommLog& comm_log() const { return *comm_log_; }

 private:
  protocol::ParallelDims dims_;
  int rank_;
  at::Device device_;
  std::unique_ptr<comm::CommLog> comm_log_;
  std::vector<comm::Communicator> groups_;          // by axis
  std::vector<comm::Communicator> pipeline_links_;  // by flow and parity of the sender; empty without a pipeline
};

}  // namespace rematch::mesh

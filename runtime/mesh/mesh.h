// ParallelDims + the process groups of this rank, by axis. Made once after the ranks have met.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "runtime/comm/communicator.h"
#include "schemas/protocol/parallel_dims.h"

namespace c10d {
class Store;
}

namespace rematch::mesh {

struct MeshRequest {
  std::string backend;  // a name of comm::backend_names
  int rank = 0;
  at::Device device = at::kCPU;
  std::chrono::milliseconds timeout{0};  // of every collective
};

class Mesh {
 public:
  // Collective: every rank of the job calls it. A group of one rank gets the `single` backend, but over NCCL.
  Mesh(const protocol::ParallelSizes& sizes, const MeshRequest& request, const c10::intrusive_ptr<c10d::Store>& store);

  int rank() const { return rank_; }
  at::Device device() const { return device_; }
  const protocol::ParallelDims& dims() const { return dims_; }
  const comm::Communicator& world() const { return world_; }
  const comm::Communicator& tensor() const { return tensor_; }
  const comm::Communicator& data() const { return data_; }
  const comm::Communicator& expert() const { return expert_; }
  const comm::Communicator& expert_data() const { return expert_data_; }

 private:
  protocol::ParallelDims dims_;
  int rank_;
  at::Device device_;
  comm::Communicator world_;
  comm::Communicator tensor_;
  comm::Communicator data_;
  comm::Communicator expert_;
  comm::Communicator expert_data_;
};

}  // namespace rematch::mesh

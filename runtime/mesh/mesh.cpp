#include "runtime/mesh/mesh.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "runtime/comm/backends.h"

namespace rematch::mesh {

namespace {

// Forms process groups; in the same order on every rank.
class GroupMaker {
 public:
  GroupMaker(const MeshRequest& request, const c10::intrusive_ptr<c10d::Store>& store) : request_(request), store_(store) {}

  c10::intrusive_ptr<c10d::Backend> make(const std::string& name, const std::vector<int>& ranks) const {
    const auto position = std::find(ranks.begin(), ranks.end(), request_.rank) - ranks.begin();
    const comm::GroupRequest group{.name = name + std::to_string(ranks.front()),
                                   .rank = static_cast<int>(position),
                                   .size = static_cast<int>(ranks.size()),
                                   .timeout = request_.timeout,
                                   .network = request_.network};
    // Over NCCL one rank is a real group, so that the path is exercised on a machine with one GPU.
    const bool alone = ranks.size() == 1 && request_.backend != "nccl";
    return comm::make_backend(alone ? "single" : request_.backend, store_, group);
  }
  // One group for all axes with these ranks.
  c10::intrusive_ptr<c10d::Backend> shared(const std::string& name, const std::vector<int>& ranks) {
    auto& backend = backends_[ranks];
    if (!backend) backend = make(name, ranks);
    return backend;
  }

 private:
  const MeshRequest& request_;
  c10::intrusive_ptr<c10d::Store> store_;
  std::map<std::vector<int>, c10::intrusive_ptr<c10d::Backend>> backends_;
};

}  // namespace

Mesh::Mesh(const protocol::ParallelSpec& spec, const MeshRequest& request, const c10::intrusive_ptr<c10d::Store>& store)
    : dims_(spec), rank_(request.rank), device_(request.device), comm_log_(std::make_unique<comm::CommLog>()) {
  GroupMaker maker(request, store);
  const comm::Observers observers{comm_log_.get(), request.activity};
  for (const auto axis : protocol::all_axes()) {
    const std::string name = protocol::axis_name(axis);
    groups_.emplace_back(name, maker.shared(name, dims_.group_ranks(axis, rank_)), device_, observers);
  }
  if (dims_.pipeline_size() == 1) return;
  // Messages of a pipeline overlap with collectives and each other, so they have groups of their own.
  const auto ranks = dims_.group_ranks(protocol::Axis::kPipeline, rank_);
  const std::string axis = protocol::axis_name(protocol::Axis::kPipeline);
  for (int i = 0; i < 4; ++i)
    pipeline_links_.emplace_back(axis, maker.make(axis + "_link" + std::to_string(i) + "_", ranks), device_, observers);
}

}  // namespace rematch::mesh

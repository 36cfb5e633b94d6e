#include "runtime/mesh/mesh.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "runtime/comm/backends.h"

namespace rematch::mesh {

namespace {

comm::Communicator make_axis(const std::string& axis, const std::vector<int>& ranks, const MeshRequest& request,
                             const c10::intrusive_ptr<c10d::Store>& store) {
  const auto position = std::find(ranks.begin(), ranks.end(), request.rank) - ranks.begin();
  const comm::GroupRequest group{.name = axis + std::to_string(ranks.front()),
                                 .rank = static_cast<int>(position),
                                 .size = static_cast<int>(ranks.size()),
                                 .timeout = request.timeout};
  // Over NCCL one rank is a real group, so that the path is exercised on a machine with one GPU.
  const bool alone = ranks.size() == 1 && request.backend != "nccl";
  return {axis, comm::make_backend(alone ? "single" : request.backend, store, group), request.device};
}

std::vector<int> all_ranks(std::int64_t world_size) {
  std::vector<int> ranks(static_cast<std::size_t>(world_size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace

Mesh::Mesh(const protocol::ParallelSizes& sizes, const MeshRequest& request, const c10::intrusive_ptr<c10d::Store>& store)
    : dims_(sizes),
      rank_(request.rank),
      device_(request.device),
      world_(make_axis("world", all_ranks(sizes.world_size), request, store)),
      tensor_(make_axis("tp", {request.rank}, request, store)),  // no tensor parallelism yet: every rank by itself
      data_(make_axis("dp", dims_.data_parallel_ranks(request.rank), request, store)),
      expert_(make_axis("ep", dims_.expert_parallel_ranks(request.rank), request, store)),
      expert_data_(make_axis("edp", dims_.expert_data_parallel_ranks(request.rank), request, store)) {}

}  // namespace rematch::mesh

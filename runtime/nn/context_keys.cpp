#include "runtime/nn/context_keys.h"

#include <ATen/ATen.h>

#include <numeric>
#include <optional>

#include "probes/device/charge.h"
#include "runtime/base/scope.h"
#include "runtime/nn/kernel.h"

namespace rematch::nn {

namespace {

using Message = comm::Communicator::Message;

// Results of communication, which nothing keeps.
at::Tensor receive_buffer(at::IntArrayRef sizes, const at::TensorOptions& options) {
  const base::RoleScope role(protocol::Role::kCommunication);
  return at::empty(sizes, options);
}

at::Tensor zero_sums(at::IntArrayRef sizes, const at::Tensor& like) {
  auto sums = at::empty(sizes, like.options().dtype(math_type(like)));
  uncounted_kernel(sums, [&] { sums.zero_(); });
  return sums;
}

std::vector<std::int64_t> with_members(std::int64_t num_members, const at::Tensor& x_BGLD) {
  auto sizes = x_BGLD.sizes().vec();
  sizes.insert(sizes.begin(), num_members);
  return sizes;
}

KeyShare one_member(const LocalKeys& keys, int member, bool is_first) {
  return {keys.k_BGLE.unsqueeze(0), keys.v_BGLV.unsqueeze(0), {member}, is_first};
}

KeyGradShare one_member_grads(const LocalKeys& sums) { return {sums.k_BGLE.unsqueeze(0), sums.v_BGLV.unsqueeze(0)}; }

// Everything a member has goes to the next one, and the same comes from the one before.
class Ring {
 public:
  explicit Ring(const comm::Communicator& group) : group_(group), rank_(group.rank()), size_(group.size()) {}

  // Whose keys are here at visit i.
  int member_at(int visit) const { return (rank_ - visit + size_) % size_; }
  int size() const { return size_; }

  void turn(const std::vector<LocalKeys*>& travelling) const {
    std::vector<Message> sent, received;
    for (const auto* keys : travelling)
      for (const auto& tensor : {keys->k_BGLE, keys->v_BGLV}) {
        sent.push_back({tensor, (rank_ + 1) % size_});
        received.push_back({receive_buffer(tensor.sizes(), tensor.options()), (rank_ - 1 + size_) % size_});
      }
    group_.exchange(sent, received);
    auto next = received.begin();
    for (auto* keys : travelling) {
      keys->k_BGLE = (next++)->tensor;
      keys->v_BGLV = (next++)->tensor;
    }
  }

 private:
  const comm::Communicator& group_;
  int rank_;
  int size_;
};

at::Tensor gathered(const comm::Communicator& group, const at::Tensor& x_BGLD) {
  auto x_MBGLD = receive_buffer(with_members(group.size(), x_BGLD), x_BGLD.options());
  group.all_gather(x_MBGLD.flatten(0, 1), x_BGLD);
  return x_MBGLD;
}

KeyShare all_members(const comm::Communicator& group, const LocalKeys& local) {
  KeyShare share{gathered(group, local.k_BGLE), gathered(group, local.v_BGLV), std::vector<int>(static_cast<std::size_t>(group.size()))};
  std::iota(share.members.begin(), share.members.end(), 0);
  return share;
}

at::Tensor scattered(const comm::Communicator& group, const at::Tensor& sums_MBGLD) {
  auto sum_BGLD = receive_buffer(sums_MBGLD.sizes().slice(1), sums_MBGLD.options());
  group.reduce_scatter_sum(sum_BGLD, sums_MBGLD.flatten(0, 1));
  return sum_BGLD;
}

}  // namespace

ContextGroup context_group(const mesh::Mesh& mesh) {
  return {&mesh.context(), mesh.dims().spec().cp_comm_type == "all_gather" ? ContextComm::kAllGather : ContextComm::kRing};
}

void visit_keys(const ContextGroup& context, const LocalKeys& local, const std::function<void(const KeyShare&)>& visit) {
  if (context.is_alone()) return visit(one_member(local, 0, true));
  if (!context.is_ring()) return visit(all_members(*context.group, local));
  const Ring ring(*context.group);
  auto keys = local;
  for (int i = 0; i < ring.size(); ++i) {
    if (i > 0) ring.turn({&keys});
    visit(one_member(keys, ring.member_at(i), i == 0));
  }
}

LocalKeys visit_keys_backward(const ContextGroup& context, const LocalKeys& local,
                              const std::function<void(const KeyShare&, const KeyGradShare&)>& visit) {
  if (!context.is_alone() && !context.is_ring()) {
    const auto size = context.group->size();
    const KeyGradShare sums{zero_sums(with_members(size, local.k_BGLE), local.k_BGLE),
                            zero_sums(with_members(size, local.v_BGLV), local.v_BGLV)};
    visit(all_members(*context.group, local), sums);
    return {scattered(*context.group, sums.dk_MBGLE), scattered(*context.group, sums.dv_MBGLV)};
  }
  std::optional<probes::ScratchScope> scratch;
  if (context.is_alone()) scratch.emplace();
  LocalKeys sums{zero_sums(local.k_BGLE.sizes(), local.k_BGLE), zero_sums(local.v_BGLV.sizes(), local.v_BGLV)};
  scratch.reset();
  if (context.is_alone()) {
    visit(one_member(local, 0, true), one_member_grads(sums));
    return sums;
  }
  const Ring ring(*context.group);
  auto keys = local;
  for (int i = 0; i < ring.size(); ++i) {
    visit(one_member(keys, ring.member_at(i), i == 0), one_member_grads(sums));
    if (i + 1 < ring.size())
      ring.turn({&keys, &sums});
    else
      ring.turn({&sums});
  }
  return sums;
}

}  // namespace rematch::nn

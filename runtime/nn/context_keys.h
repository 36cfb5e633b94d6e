// How a context-parallel rank's queries meet the keys of the whole sequence (Transformer Engine's cp_comm_type), and how the gradients of
// the keys come home. All messages are issued here, outside of kernel bodies, so that they are the same on the meta device.
//
//   ring        size visits, of one member's keys each, own keys first. Between two of them k and v go on to the next member: size - 1
//               exchanges of two messages each way. Backward: the same again, and the sums of dk and dv, in the maths' type, travel with
//               their keys and then once more, home: `size` exchanges of them.
//   all-gather  one visit of all keys: two all-gathers. Backward: the same again, then two reduce-scatters of dk and dv in the maths' type.
//   a group alone: one visit of the own keys, and nothing is sent.
//
// What is charged beside the caller's tensors: received k and v (a ring has two sets of them while they are exchanged), and with more than
// one member the sums of dk and dv with what is received of them. Of a group alone the sums are a kernel's scratch.
// Shapes: B sequences, G key-value heads, L local tokens, E head size of k, V of v, M members of a share.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "runtime/comm/communicator.h"
#include "runtime/mesh/mesh.h"
#include "runtime/nn/attention_tiles.h"

namespace rematch::nn {

enum class ContextComm { kRing, kAllGather };  // p2p | all_gather

// The context-parallel group as attention sees it. A default one is alone. The group outlives it.
struct ContextGroup {
  const comm::Communicator* group = nullptr;
  ContextComm comm = ContextComm::kRing;

  ContextPlace place() const { return group ? ContextPlace{group->rank(), group->size()} : ContextPlace{}; }
  bool is_alone() const { return place().size == 1; }
  bool is_ring() const { return !is_alone() && comm == ContextComm::kRing; }
};

// Key-value heads of the local tokens, or sums of their gradients.
struct LocalKeys {
  at::Tensor k_BGLE;
  at::Tensor v_BGLV;
};

// The mesh's, by its cp_comm_type. The mesh outlives it.
ContextGroup context_group(const mesh::Mesh& mesh);

// visit(keys) for every share of the sequence's keys. Collective.
void visit_keys(const ContextGroup& context, const LocalKeys& local, const std::function<void(const KeyShare&)>& visit);

// The same; visit adds to the sums of dk and dv beside the keys, [M, B, G, L, D] and zero at first. Returns the sums of the local keys over
// all members. Collective.
struct KeyGradShare {
  at::Tensor dk_MBGLE;
  at::Tensor dv_MBGLV;
};
LocalKeys visit_keys_backward(const ContextGroup& context, const LocalKeys& local,
                              const std::function<void(const KeyShare&, const KeyGradShare&)>& visit);

}  // namespace rematch::nn

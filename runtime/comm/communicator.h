// Collectives of one process group, on contiguous tensors of the training device. Wraps a c10d::Backend and counts what it carries.
// Blocking but for `send`. Threads: one at a time; every member calls the same operations in the same order.
// Failure: base::CommError when the backend reports one or its timeout passes. Counts are checked by the backend.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "schemas/protocol/communication.h"

namespace c10d {
class Backend;
class Work;
}  // namespace c10d

namespace rematch::comm {

class Activity;
class CommLog;

// Who hears of every operation: counts and times go to the log, beginning and end to the activity. Both outlive the communicator; null:
// nobody.
struct Observers {
  CommLog* log = nullptr;
  Activity* activity = nullptr;
};

// A message on its way. Holds its memory, which is not the modelled device's.
class PendingSend {
 public:
  PendingSend(std::string axis, at::Tensor message, c10::intrusive_ptr<c10d::Work> work, int peer, Activity* activity);
  ~PendingSend();
  PendingSend(PendingSend&&) noexcept;
  PendingSend& operator=(PendingSend&&) noexcept;
  void wait();  // throws base::CommError

 private:
  std::string axis_;
  at::Tensor message_;
  c10::intrusive_ptr<c10d::Work> work_;
  int peer_;
  Activity* activity_;
};

class Communicator {
 public:
  // `axis` names the group in messages and counts: "dp", "ep", ... `device` is where exchanged counts are staged.
  Communicator(std::string axis, c10::intrusive_ptr<c10d::Backend> backend, at::Device device, const Observers& observers = {});
  ~Communicator();
  Communicator(Communicator&&) noexcept;

  const std::string& axis() const { return axis_; }
  int rank() const;  // within the group
  int size() const;
  // One rank and no network: collectives would be copies, and are not counted. Not so over NCCL, where a group of one is a group.
  bool is_alone() const;

  void all_reduce_sum(const at::Tensor& tensor) const;
  // input [size * n] -> output [n]: the sum of every member's slice of this rank. The two may overlap in place.
  void reduce_scatter_sum(const at::Tensor& output, const at::Tensor& input) const;
  // input [n] -> output [size * n]. The input may be this rank's slice of the output.
  void all_gather(const at::Tensor& output, const at::Tensor& input) const;
  // The same two with another number of rows (dim 0) from each member, rows[i] of member i. Sums in fp32, rounded once, in order of
  // members.
  void all_gather_rows(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& rows) const;
  void reduce_scatter_rows(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& rows) const;
  // Rows (dim 0) in order of the member they go to or came from. No rows named: equal parts.
  void all_to_all(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& output_rows,
                  const std::vector<std::int64_t>& input_rows) const;
  // values [size * n] in order of receiver -> [size * n] in order of sender; host to host. On meta nothing arrives: zeros.
  std::vector<std::int64_t> exchange_counts(const std::vector<std::int64_t>& values) const;
  // values [n] -> [size * n] in order of members; likewise.
  std::vector<std::int64_t> gather_counts(const std::vector<std::int64_t>& values) const;

  // Point to point; a peer is a position in the group. What one member sends another arrives in the order of sending.
  // The message is copied first, so that `tensor` may go at once.
  PendingSend send(const at::Tensor& tensor, int peer) const;
  void receive(const at::Tensor& tensor, int peer) const;
  struct Message {
    at::Tensor tensor;
    int peer = 0;
  };
  // All at once: peers may do the same with each other without waiting for one another.
  void exchange(const std::vector<Message>& sent, const std::vector<Message>& received) const;

  void barrier() const;  // not counted

 private:
  struct Tags {
    std::map<int, int> sent, received;  // messages so far, by peer
  };
  template <typename Collective>
  void carry_out(protocol::CommOperation operation, std::int64_t bytes, const Collective& collective,
                 const std::vector<int>& peers = {}) const;
  c10::intrusive_ptr<c10d::Work> start_send(at::Tensor& message, int peer) const;
  c10::intrusive_ptr<c10d::Work> start_receive(at::Tensor& message, int peer) const;

  std::string axis_;
  c10::intrusive_ptr<c10d::Backend> backend_;
  at::Device device_;
  Observers observers_;
  std::unique_ptr<Tags> tags_;
};

}  // namespace rematch::comm

// Collectives of one process group, blocking, on contiguous tensors of the training device. Wraps a c10d::Backend.
// Threads: the trainer's main thread only; every member calls the same operations in the same order.
// Failure: base::CommError when the backend reports one or its timeout passes. Counts are checked by the backend.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace c10d {
class Backend;
}

namespace rematch::comm {

class Communicator {
 public:
  // `axis` names the group in messages: "dp", "ep", ... `device` is where exchanged counts are staged.
  Communicator(std::string axis, c10::intrusive_ptr<c10d::Backend> backend, at::Device device);
  ~Communicator();
  Communicator(Communicator&&) noexcept;

  int rank() const;  // within the group
  int size() const;
  // One rank and no network: collectives would be copies. Not so over NCCL, where a group of one is a group.
  bool is_alone() const;

  void all_reduce_sum(const at::Tensor& tensor) const;
  // input [size * n] -> output [n]: the sum of every member's slice of this rank. The two may overlap in place.
  void reduce_scatter_sum(const at::Tensor& output, const at::Tensor& input) const;
  // input [n] -> output [size * n]. The input may be this rank's slice of the output.
  void all_gather(const at::Tensor& output, const at::Tensor& input) const;
  // Rows (dim 0) in order of the member they go to or came from.
  void all_to_all(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& output_rows,
                  const std::vector<std::int64_t>& input_rows) const;
  // values [size * n] in order of receiver -> [size * n] in order of sender; host to host.
  std::vector<std::int64_t> exchange_counts(const std::vector<std::int64_t>& values) const;
  void barrier() const;

 private:
  std::string axis_;
  c10::intrusive_ptr<c10d::Backend> backend_;
  at::Device device_;
};

}  // namespace rematch::comm

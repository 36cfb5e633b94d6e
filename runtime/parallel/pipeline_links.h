// What one pipeline rank sends and receives: the residual stream onwards, its gradient back. Stages are virtual: behind the last rank's
// chunk comes the first rank's next one. Messages come in the order in which they were sent, so both ends must follow one schedule.
// Failure: base::CommError.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "runtime/mesh/mesh.h"

namespace rematch::parallel {

class PipelineLinks {
 public:
  // `stream_shape`: [this rank's rows of a micro-batch, hidden size], bf16. The mesh outlives this.
  PipelineLinks(const mesh::Mesh& mesh, std::vector<std::int64_t> stream_shape);

  at::Tensor receive_activation() const;  // a leaf that wants its gradient
  at::Tensor receive_gradient();
  // Copies what it sends and does not wait: the tensor may go at once.
  void send_activation(const at::Tensor& x_TH);
  void send_gradient(const at::Tensor& dx_TH);
  // Until everything sent has arrived.
  void wait();

 private:
  at::Tensor receive(mesh::PipelineFlow flow, int sender) const;
  comm::PendingSend send(mesh::PipelineFlow flow, const at::Tensor& tensor, int receiver) const;
  int neighbour(int distance) const;

  const mesh::Mesh& mesh_;
  std::vector<std::int64_t> stream_shape_;
  // Copies in host memory on the cpu. A gradient that comes tells that one more activation has arrived.
  std::deque<comm::PendingSend> activations_;
  std::deque<comm::PendingSend> gradients_;
};

}  // namespace rematch::parallel

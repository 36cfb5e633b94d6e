#include "runtime/parallel/pipeline_links.h"

#include <ATen/ATen.h>

#include <utility>

#include "runtime/base/scope.h"

namespace rematch::parallel {

using mesh::PipelineFlow;

PipelineLinks::PipelineLinks(const mesh::Mesh& mesh, std::vector<std::int64_t> stream_shape)
    : mesh_(mesh), stream_shape_(std::move(stream_shape)) {}

int PipelineLinks::neighbour(int distance) const {
  const auto& group = mesh_.pipeline();
  return (group.rank() + distance + group.size()) % group.size();
}

at::Tensor PipelineLinks::receive(PipelineFlow flow, int sender) const {
  auto tensor = at::empty(stream_shape_, at::TensorOptions(mesh_.device()).dtype(at::kBFloat16));
  mesh_.pipeline_link(flow, sender).receive(tensor, sender);
  return tensor;
}

at::Tensor PipelineLinks::receive_activation() const {
  const base::RoleScope role(protocol::Role::kActivations);
  return receive(PipelineFlow::kActivations, neighbour(-1)).requires_grad_();
}

at::Tensor PipelineLinks::receive_gradient() {
  const base::RoleScope role(protocol::Role::kCommunication);
  auto gradient = receive(PipelineFlow::kGradients, neighbour(1));
  // Activations arrive in order, and this one's has: so has the oldest.
  activations_.front().wait();
  activations_.pop_front();
  return gradient;
}

comm::PendingSend PipelineLinks::send(PipelineFlow flow, const at::Tensor& tensor, int receiver) const {
  return mesh_.pipeline_link(flow, mesh_.pipeline().rank()).send(tensor, receiver);
}

void PipelineLinks::send_activation(const at::Tensor& x_TH) {
  activations_.push_back(send(PipelineFlow::kActivations, x_TH, neighbour(1)));
}

void PipelineLinks::send_gradient(const at::Tensor& dx_TH) { gradients_.push_back(send(PipelineFlow::kGradients, dx_TH, neighbour(-1))); }

void PipelineLinks::wait() {
  for (auto* messages : {&activations_, &gradients_}) {
    for (auto& message : *messages) message.wait();
    messages->clear();
  }
}

}  // namespace rematch::parallel

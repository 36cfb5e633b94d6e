#include "runtime/comm/communicator.h"

#include <ATen/ATen.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "probes/device/charge.h"
#include "runtime/base/errors.h"

namespace rematch::comm {

namespace {

// The same memory without a share in it. A backend's own thread may let go of its tensors some time after the operation has ended; were
// they ours, allocated bytes would depend on that thread. The caller holds the memory until the operation has ended.
at::Tensor borrowed(const at::Tensor& tensor) {
  if (tensor.is_meta()) return tensor;
  return at::for_blob(tensor.data_ptr(), tensor.sizes()).options(tensor.options()).target_device(tensor.device()).make_tensor();
}

// Buffers inside a collective belong to the communication library, not to the modelled device.
template <typename Collective>
void carry_out(const std::string& axis, const char* operation, const Collective& collective) {
  const probes::ScratchScope scratch;
  try {
    collective()->wait();
  } catch (const std::exception& error) {
    throw base::CommError(std::string(operation) + " over axis " + axis + " failed: " + error.what());
  }
}

}  // namespace

Communicator::Communicator(std::string axis, c10::intrusive_ptr<c10d::Backend> backend, at::Device device)
    : axis_(std::move(axis)), backend_(std::move(backend)), device_(device) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;

int Communicator::rank() const { return backend_->getRank(); }
int Communicator::size() const { return backend_->getSize(); }
bool Communicator::is_alone() const { return backend_->getBackendName() == "single"; }

void Communicator::all_reduce_sum(const at::Tensor& tensor) const {
  std::vector<at::Tensor> tensors = {borrowed(tensor)};
  carry_out(axis_, "all-reduce", [&] { return backend_->allreduce(tensors); });
}

void Communicator::reduce_scatter_sum(const at::Tensor& output, const at::Tensor& input) const {
  at::Tensor result = borrowed(output);
  at::Tensor source = borrowed(input);
  carry_out(axis_, "reduce-scatter", [&] { return backend_->_reduce_scatter_base(result, source); });
}

void Communicator::all_gather(const at::Tensor& output, const at::Tensor& input) const {
  at::Tensor result = borrowed(output);
  at::Tensor source = borrowed(input);
  carry_out(axis_, "all-gather", [&] { return backend_->_allgather_base(result, source); });
}

void Communicator::all_to_all(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& output_rows,
                              const std::vector<std::int64_t>& input_rows) const {
  at::Tensor result = borrowed(output);
  at::Tensor source = borrowed(input);
  std::vector<std::int64_t> receive = output_rows;
  std::vector<std::int64_t> send = input_rows;
  carry_out(axis_, "all-to-all", [&] { return backend_->alltoall_base(result, source, receive, send); });
}

std::vector<std::int64_t> Communicator::exchange_counts(const std::vector<std::int64_t>& values) const {
  const probes::ScratchScope scratch;
  const auto staged = at::tensor(values, at::kLong).to(device_);
  const auto received = at::empty_like(staged);
  all_to_all(received, staged, {}, {});
  const auto host = received.cpu();
  return {host.data_ptr<std::int64_t>(), host.data_ptr<std::int64_t>() + host.numel()};
}

void Communicator::barrier() const {
  carry_out(axis_, "barrier", [&] { return backend_->barrier(); });
}

}  // namespace rematch::comm

#include "runtime/comm/communicator.h"

#include <ATen/ATen.h>

#include <stdexcept>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <utility>

#include "probes/device/charge.h"
#include "probes/host/clock.h"
#include "runtime/base/errors.h"
#include "runtime/base/text.h"
#include "runtime/comm/activity.h"
#include "runtime/comm/comm_log.h"

namespace rematch::comm {

using protocol::CommOperation;

namespace {

constexpr int kNumTags = 1 << 30;

// The same memory without a share in it. A backend's own thread may let go of its tensors some time after the operation has ended; were
// they ours, allocated bytes would depend on that thread. The caller holds the memory until the operation has ended.
at::Tensor borrowed(const at::Tensor& tensor) {
  if (!tensor.is_contiguous()) throw std::logic_error("a collective wants contiguous tensors");
  if (tensor.is_meta()) return tensor;
  return at::for_blob(tensor.data_ptr(), tensor.sizes()).options(tensor.options()).target_device(tensor.device()).make_tensor();
}

std::int64_t bytes_of(const at::Tensor& tensor) { return static_cast<std::int64_t>(tensor.nbytes()); }

std::vector<std::int64_t> host_values(const at::Tensor& counts) {
  if (counts.is_meta()) return std::vector<std::int64_t>(static_cast<std::size_t>(counts.numel()));
  const auto host = counts.cpu();
  return {host.data_ptr<std::int64_t>(), host.data_ptr<std::int64_t>() + host.numel()};
}

[[noreturn]] void fail(const std::string& axis, std::string_view operation, const std::exception& error) {
  throw base::CommError(std::string(operation) + " over axis " + axis + " failed: " + base::first_line(error.what()));
}

// Runs what waits for the group, or for these members of it, and shows that this rank is in it; what throws stays shown.
template <typename Operation>
void show(Activity* activity, const std::string& axis, std::string_view name, const std::vector<int>& peers, const Operation& operation) {
  if (activity && peers.empty()) activity->begin(axis, name);
  if (activity && !peers.empty()) activity->begin_messages(axis, name, peers);
  try {
    operation();
  } catch (const std::exception& error) {
    fail(axis, name, error);
  }
  if (activity) activity->end();
}

}  // namespace

PendingSend::PendingSend(std::string axis, at::Tensor message, c10::intrusive_ptr<c10d::Work> work, int peer, Activity* activity)
    : axis_(std::move(axis)), message_(std::move(message)), work_(std::move(work)), peer_(peer), activity_(activity) {}
PendingSend::~PendingSend() = default;
PendingSend::PendingSend(PendingSend&&) noexcept = default;
PendingSend& PendingSend::operator=(PendingSend&&) noexcept = default;

void PendingSend::wait() {
  show(activity_, axis_, to_string(CommOperation::kSend), {peer_}, [&] { work_->wait(); });
}

Communicator::Communicator(std::string axis, c10::intrusive_ptr<c10d::Backend> backend, at::Device device, const Observers& observers)
    : axis_(std::move(axis)), backend_(std::move(backend)), device_(device), observers_(observers), tags_(std::make_unique<Tags>()) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;

int Communicator::rank() const { return backend_->getRank(); }
int Communicator::size() const { return backend_->getSize(); }
bool Communicator::is_alone() const { return backend_->getBackendName() == "single"; }

// Buffers inside a collective belong to the communication library, not to the modelled device.
template <typename Collective>
void Communicator::carry_out(CommOperation operation, std::int64_t bytes, const Collective& collective,
                             const std::vector<int>& peers) const {
  const probes::ScratchScope scratch;
  const auto start_ns = probes::mono_ns();
  show(observers_.activity, axis_, to_string(operation), peers, [&] { collective()->wait(); });
  if (observers_.log && !is_alone()) observers_.log->add(axis_, operation, bytes, probes::mono_ns() - start_ns);
}

void Communicator::all_reduce_sum(const at::Tensor& tensor) const {
  std::vector<at::Tensor> tensors = {borrowed(tensor)};
  carry_out(CommOperation::kAllReduce, bytes_of(tensor), [&] { return backend_->allreduce(tensors); });
}

void Communicator::reduce_scatter_sum(const at::Tensor& output, const at::Tensor& input) const {
  at::Tensor result = borrowed(output);
  at::Tensor source = borrowed(input);
  carry_out(CommOperation::kReduceScatter, bytes_of(input), [&] { return backend_->_reduce_scatter_base(result, source); });
}

void Communicator::all_gather(const at::Tensor& output, const at::Tensor& input) const {
  at::Tensor result = borrowed(output);
  at::Tensor source = borrowed(input);
  carry_out(CommOperation::kAllGather, bytes_of(output), [&] { return backend_->_allgather_base(result, source); });
}

// c10d gathers and scatters equal parts only, so parts of their own size go by all-to-all.
void Communicator::all_gather_rows(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& rows) const {
  const probes::ScratchScope scratch;
  at::Tensor result = borrowed(output);
  at::Tensor copies = at::cat(std::vector<at::Tensor>(rows.size(), input));
  std::vector<std::int64_t> receive = rows, send(rows.size(), input.size(0));
  carry_out(CommOperation::kAllGather, bytes_of(output), [&] { return backend_->alltoall_base(result, copies, receive, send); });
}

void Communicator::reduce_scatter_rows(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& rows) const {
  const probes::ScratchScope scratch;
  auto sizes = output.sizes().vec();
  const auto num_members = static_cast<std::int64_t>(rows.size());
  sizes.insert(sizes.begin(), num_members);
  const auto parts = at::empty(sizes, output.options());
  at::Tensor result = parts.flatten(0, 1), source = borrowed(input);
  std::vector<std::int64_t> receive(rows.size(), output.size(0)), send = rows;
  carry_out(CommOperation::kReduceScatter, bytes_of(input), [&] { return backend_->alltoall_base(result, source, receive, send); });
  if (output.is_meta()) return;
  auto sum = parts.select(0, 0).to(at::kFloat, /*non_blocking=*/false, /*copy=*/true);
  for (std::int64_t i = 1; i < num_members; ++i) sum.add_(parts.select(0, i));
  at::Tensor(output).copy_(sum);
}

void Communicator::all_to_all(const at::Tensor& output, const at::Tensor& input, const std::vector<std::int64_t>& output_rows,
                              const std::vector<std::int64_t>& input_rows) const {
  at::Tensor result = borrowed(output);
  at::Tensor source = borrowed(input);
  std::vector<std::int64_t> receive = output_rows;
  std::vector<std::int64_t> send = input_rows;
  carry_out(CommOperation::kAllToAll, bytes_of(input), [&] { return backend_->alltoall_base(result, source, receive, send); });
}

std::vector<std::int64_t> Communicator::exchange_counts(const std::vector<std::int64_t>& values) const {
  const probes::ScratchScope scratch;
  const auto staged = at::tensor(values, at::kLong).to(device_);
  const auto received = at::empty_like(staged);
  all_to_all(received, staged, {}, {});
  return host_values(received);
}

std::vector<std::int64_t> Communicator::gather_counts(const std::vector<std::int64_t>& values) const {
  const probes::ScratchScope scratch;
  const auto staged = at::tensor(values, at::kLong).to(device_);
  const auto gathered = at::empty({size() * staged.size(0)}, staged.options());
  all_gather(gathered, staged);
  return host_values(gathered);
}

c10::intrusive_ptr<c10d::Work> Communicator::start_send(at::Tensor& message, int peer) const {
  std::vector<at::Tensor> tensors = {message};
  return backend_->send(tensors, peer, tags_->sent[peer]++ % kNumTags);
}

c10::intrusive_ptr<c10d::Work> Communicator::start_receive(at::Tensor& message, int peer) const {
  std::vector<at::Tensor> tensors = {message};
  return backend_->recv(tensors, peer, tags_->received[peer]++ % kNumTags);
}

PendingSend Communicator::send(const at::Tensor& tensor, int peer) const {
  const probes::ScratchScope scratch;
  const auto start_ns = probes::mono_ns();
  auto message = tensor.detach().clone(at::MemoryFormat::Contiguous);
  try {
    auto work = start_send(message, peer);
    if (observers_.log) observers_.log->add(axis_, CommOperation::kSend, bytes_of(tensor), probes::mono_ns() - start_ns);
    return {axis_, std::move(message), std::move(work), peer, observers_.activity};
  } catch (const std::exception& error) {
    fail(axis_, to_string(CommOperation::kSend), error);
  }
}

void Communicator::receive(const at::Tensor& tensor, int peer) const {
  at::Tensor message = borrowed(tensor);
  carry_out(CommOperation::kReceive, bytes_of(tensor), [&] { return start_receive(message, peer); }, {peer});
}

void Communicator::exchange(const std::vector<Message>& sent, const std::vector<Message>& received) const {
  const probes::ScratchScope scratch;
  const auto start_ns = probes::mono_ns();
  std::vector<c10::intrusive_ptr<c10d::Work>> works;
  std::vector<int> peers;
  for (const auto& message : sent) peers.push_back(message.peer);
  for (const auto& message : received) peers.push_back(message.peer);
  show(observers_.activity, axis_, "exchange", peers, [&] {
    const bool coalesces = backend_->supportsCoalescing();
    if (coalesces) backend_->startCoalescing();
    for (const auto& [tensor, peer] : sent) {
      at::Tensor message = borrowed(tensor);
      works.push_back(start_send(message, peer));
    }
    for (const auto& [tensor, peer] : received) {
      at::Tensor message = borrowed(tensor);
      works.push_back(start_receive(message, peer));
    }
    if (coalesces) works = {backend_->endCoalescing()};
    for (const auto& work : works) work->wait();
  });
  auto* log = observers_.log;
  if (!log) return;
  const auto duration_ns = probes::mono_ns() - start_ns;
  for (const auto& message : sent) log->add(axis_, CommOperation::kSend, bytes_of(message.tensor), 0);
  // The time counts once.
  for (std::size_t i = 0; i < received.size(); ++i)
    log->add(axis_, CommOperation::kReceive, bytes_of(received[i].tensor), i == 0 ? duration_ns : 0);
}

void Communicator::barrier() const {
  const probes::ScratchScope scratch;
  show(observers_.activity, axis_, "barrier", {}, [&] { backend_->barrier()->wait(); });
}

}  // namespace rematch::comm

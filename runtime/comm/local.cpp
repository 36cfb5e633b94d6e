// Two backends without a network. `single`: one rank, each collective is a copy. `fake`: any size, finished at once, outputs untouched
// unless they alias the input; for the meta device, where only shapes count.
#include <ATen/ATen.h>

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "runtime/comm/backends.h"

namespace rematch::comm {

namespace {

class FinishedWork final : public c10d::Work {
 public:
  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds) override { return true; }
};

class LocalBackend final : public c10d::Backend {
 public:
  LocalBackend(std::string name, int rank, int size) : Backend(rank, size), name_(std::move(name)) {}

  const std::string getBackendName() const override { return name_; }
  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>&, const c10d::AllreduceOptions&) override { return finished(); }
  c10::intrusive_ptr<c10d::Work> _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions&) override {
    return copied(output, input);
  }
  c10::intrusive_ptr<c10d::Work> _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions&) override {
    return copied(output, input);
  }
  c10::intrusive_ptr<c10d::Work> alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>&, std::vector<int64_t>&,
                                               const c10d::AllToAllOptions&) override {
    return copied(output, input);
  }
  c10::intrusive_ptr<c10d::Work> send(std::vector<at::Tensor>&, int, int) override { return finished(); }
  c10::intrusive_ptr<c10d::Work> recv(std::vector<at::Tensor>&, int, int) override { return finished(); }
  c10::intrusive_ptr<c10d::Work> barrier(const c10d::BarrierOptions&) override { return finished(); }

 private:
  static c10::intrusive_ptr<c10d::Work> finished() { return c10::make_intrusive<FinishedWork>(); }
  c10::intrusive_ptr<c10d::Work> copied(at::Tensor& output, const at::Tensor& input) const {
    if (getSize() == 1 && !output.is_same(input)) output.copy_(input);
    return finished();
  }

  std::string name_;
};

}  // namespace

c10::intrusive_ptr<c10d::Backend> make_local(const std::string& name, const GroupRequest& request) {
  return c10::make_intrusive<LocalBackend>(name, request.rank, request.size);
}

}  // namespace rematch::comm

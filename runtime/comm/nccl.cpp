#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "runtime/comm/backends.h"

namespace rematch::comm {

c10::intrusive_ptr<c10d::Backend> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const GroupRequest& request) {
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = request.timeout;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, request.rank, request.size, options);
}

bool built_with_nccl() { return true; }

std::optional<std::string> nccl_version() { return c10d::getNcclVersion(); }

}  // namespace rematch::comm

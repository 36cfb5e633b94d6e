#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <stdexcept>

#include "runtime/comm/backends.h"

namespace rematch::comm {

c10::intrusive_ptr<c10d::Backend> make_nccl(const c10::intrusive_ptr<c10d::Store>&, const GroupRequest&) {
  throw std::runtime_error("NCCL wants a trainer built with WITH_CUDA=ON; this one was built without");
}

bool built_with_nccl() { return false; }

std::optional<std::string> nccl_version() { return std::nullopt; }

}  // namespace rematch::comm

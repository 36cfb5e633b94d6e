// A build without Gloo's headers: a machine with one GPU and nothing else. NCCL and one rank work there.
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <stdexcept>

#include "runtime/comm/backends.h"

namespace rematch::comm {

c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>&, const GroupRequest&) {
  throw std::runtime_error("this trainer was built without Gloo's headers (Debian package libgloo-dev); several CPU ranks want them");
}

}  // namespace rematch::comm

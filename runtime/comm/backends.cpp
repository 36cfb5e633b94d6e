#include "runtime/comm/backends.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "runtime/base/errors.h"
#include "runtime/base/text.h"

namespace rematch::comm {

std::vector<std::string> backend_names() {
  std::vector<std::string> names = {"gloo", "single", "fake"};
  if (built_with_nccl()) names.emplace_back("nccl");
  return names;
}

c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name, const c10::intrusive_ptr<c10d::Store>& store,
                                               const GroupRequest& request) {
  try {
    if (name == "single" || name == "fake") return make_local(name, request);
    const auto keys = c10::make_intrusive<c10d::PrefixStore>(request.name, store);
    if (name == "gloo") return make_gloo(keys, request);
    return make_nccl(keys, request);
  } catch (const std::exception& error) {
    throw base::CommError("forming group " + request.name + " over " + name + " failed: " + base::first_line(error.what()));
  }
}

}  // namespace rematch::comm

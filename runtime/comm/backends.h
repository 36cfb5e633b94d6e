// The communication backends of this build, one table: name -> a c10d::Backend for a group of ranks. One file each; CMake chooses NCCL's.
// Failure: base::CommError when the group cannot be formed before the deadline.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "runtime/comm/network_device.h"

namespace c10d {
class Backend;
class Store;
}  // namespace c10d

namespace rematch::comm {

struct GroupRequest {
  std::string name;  // unique in the job: the prefix of its keys in the store
  int rank = 0;      // within the group
  int size = 1;
  std::chrono::milliseconds timeout{0};  // of every operation
  NetworkDevice network = {};            // what Gloo listens on
};

// "gloo", "single", "fake", and "nccl" in a build with CUDA.
std::vector<std::string> backend_names();
c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name, const c10::intrusive_ptr<c10d::Store>& store,
                                               const GroupRequest& request);

// The makers behind the table.
c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const GroupRequest& request);
c10::intrusive_ptr<c10d::Backend> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const GroupRequest& request);
c10::intrusive_ptr<c10d::Backend> make_local(const std::string& name, const GroupRequest& request);
bool built_with_nccl();
std::optional<std::string> nccl_version();  // of the library in use, "2.28.3"; nullopt in a build without it

}  // namespace rematch::comm

// The communication backends of this build, one table: name -> a c10d::Backend for a group of ranks. One file each; CMake chooses NCCL's.
// Failure: base::CommError when the group cannot be formed before the deadline.
#pragma once

#include <c10/util/intrusive_ptr.h>

#include <chrono>
#include <string>
#include <vector>

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
};

// Where the ranks meet: MASTER_ADDR and MASTER_PORT, as torchrun sets them.
struct Rendezvous {
  std::string host;
  int port = 0;
  int rank = 0;  // within the job
  int world_size = 1;
  std::chrono::milliseconds timeout{0};
};

c10::intrusive_ptr<c10d::Store> meet(const Rendezvous& rendezvous);

// "gloo", "single", "fake", and "nccl" in a build with CUDA.
std::vector<std::string> backend_names();
c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name, const c10::intrusive_ptr<c10d::Store>& store,
                                               const GroupRequest& request);

// The makers behind the table.
c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const GroupRequest& request);
c10::intrusive_ptr<c10d::Backend> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const GroupRequest& request);
c10::intrusive_ptr<c10d::Backend> make_local(const std::string& name, const GroupRequest& request);
bool built_with_nccl();

}  // namespace rematch::comm

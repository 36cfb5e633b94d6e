// The only file that sees Gloo's headers (Debian's libgloo-dev; the library itself is inside libtorch_cpu).
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "runtime/comm/backends.h"

namespace rematch::comm {

namespace {

std::shared_ptr<::gloo::transport::Device> listen_on(const NetworkDevice& network) {
  if (!network.interface.empty()) return c10d::ProcessGroupGloo::createDeviceForInterface(network.interface);
  if (!network.address.empty()) return c10d::ProcessGroupGloo::createDeviceForHostname(network.address);
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

}  // namespace

c10::intrusive_ptr<c10d::Backend> make_gloo(const c10::intrusive_ptr<c10d::Store>& store, const GroupRequest& request) {
  const auto options = c10d::ProcessGroupGloo::Options::create(request.timeout);
  options->devices.push_back(listen_on(request.network));
  options->threads = 1;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, request.rank, request.size, options);
}

}  // namespace rematch::comm

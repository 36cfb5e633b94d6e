#include "runtime/comm/comm_log.h"

#include <utility>

#include "runtime/base/pass.h"

namespace rematch::comm {

void CommLog::add(const std::string& axis, protocol::CommOperation operation, std::int64_t bytes, std::int64_t duration_ns) {
  const auto pass = base::open_pass();
  auto& count =
      counts_.try_emplace({axis, pass, operation}, protocol::CommCount{.axis = axis, .pass = pass, .operation = operation}).first->second;
  ++count.num_calls;
  count.bytes += bytes;
  count.duration_ns += duration_ns;
}

std::vector<protocol::CommCount> CommLog::take() {
  std::vector<protocol::CommCount> all;
  for (auto& [key, count] : std::exchange(counts_, {})) all.push_back(std::move(count));
  return all;
}

}  // namespace rematch::comm

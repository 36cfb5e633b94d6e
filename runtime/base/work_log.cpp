#include "runtime/base/work_log.h"

#include <array>
#include <atomic>
#include <cstddef>

#include "runtime/base/pass.h"

namespace rematch::base {

namespace {

struct PassWork {
  std::atomic<std::int64_t> matmul_flops{0}, matmul_bytes{0}, other_bytes{0}, num_kernels{0};
};

std::array<PassWork, protocol::kAllPasses.size()> all_work;  // index: Pass

PassWork& open_work() { return all_work[static_cast<std::size_t>(open_pass())]; }

}  // namespace

void count_matmul(std::int64_t flops, std::int64_t bytes) {
  auto& work = open_work();
  work.matmul_flops += flops;
  work.matmul_bytes += bytes;
  ++work.num_kernels;
}

void count_kernel(std::int64_t bytes) {
  auto& work = open_work();
  work.other_bytes += bytes;
  ++work.num_kernels;
}

std::vector<protocol::WorkCount> take_work() {
  std::vector<protocol::WorkCount> counts;
  for (const auto pass : protocol::kAllPasses) {
    auto& work = all_work[static_cast<std::size_t>(pass)];
    const protocol::WorkCount count{.pass = pass,
                                    .matmul_flops = work.matmul_flops.exchange(0),
                                    .matmul_bytes = work.matmul_bytes.exchange(0),
                                    .other_bytes = work.other_bytes.exchange(0),
                                    .num_kernels = work.num_kernels.exchange(0)};
    if (count.num_kernels > 0) counts.push_back(count);
  }
  return counts;
}

}  // namespace rematch::base

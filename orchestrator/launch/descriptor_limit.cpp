#include "orchestrator/launch/descriptor_limit.h"

#include <sys/resource.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace rematch::launch {

namespace {

constexpr std::int64_t kOwnDescriptors = 64;  // streams, log, control channel, timers, lock, and those of a rank that is being started

base::Error too_few(std::int64_t num_ranks, const std::string& found) {
  const std::string wanted = std::to_string(descriptors_wanted(num_ranks));
  return {std::to_string(num_ranks) + " ranks on one machine want " + wanted + " open files in the process that watches them; " + found +
          ". Raise the hard limit of open files (`ulimit -Hn " + wanted + "`, or nofile in limits.conf), then run again"};
}

}  // namespace

std::int64_t descriptors_wanted(std::int64_t num_ranks) { return num_ranks + kOwnDescriptors; }

std::optional<base::Error> allow_ranks(std::int64_t num_ranks) {
  const auto wanted = static_cast<rlim_t>(descriptors_wanted(num_ranks));
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return too_few(num_ranks, "the limit cannot be read");
  if (limit.rlim_cur >= wanted) return std::nullopt;
  if (limit.rlim_max < wanted) return too_few(num_ranks, "the hard limit is " + std::to_string(limit.rlim_max));
  limit.rlim_cur = wanted;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return std::nullopt;
  return too_few(num_ranks, "the soft limit cannot be raised: " + std::generic_category().message(errno));
}

}  // namespace rematch::launch

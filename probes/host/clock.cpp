#include "probes/host/clock.h"

#include <ctime>

namespace rematch::probes {

namespace {

std::int64_t read_clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::int64_t mono_ns() { return read_clock_ns(CLOCK_MONOTONIC); }
std::int64_t unix_ns() { return read_clock_ns(CLOCK_REALTIME); }

}  // namespace rematch::probes

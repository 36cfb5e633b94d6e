#include "runtime/base/log.h"

#include <cstdio>

namespace rematch::base {

namespace {
std::string& stamp() {
  static std::string value;
  return value;
}
}  // namespace

void set_log_stamp(const std::string& host, int rank, const std::string& trial_id) {
  stamp() = "[" + host + " rank " + std::to_string(rank) + " trial " + trial_id + "] ";
}

void log_line(const std::string& message) { std::fputs((stamp() + message + "\n").c_str(), stderr); }

}  // namespace rematch::base

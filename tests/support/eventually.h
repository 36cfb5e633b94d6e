// Waiting for another process: a condition looked at every 2 ms, with a deadline that sanitised builds stretch. And whether a process still
// runs.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "tests/support/time_allowance.h"

namespace rematch::tests {

inline bool eventually(const std::function<bool()>& condition, std::chrono::milliseconds deadline = std::chrono::seconds(10)) {
  const auto until = std::chrono::steady_clock::now() + time_allowance(deadline);
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// A zombie that nobody has reaped yet runs no more.
inline bool is_alive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return false;
  const auto name_end = line.rfind(')');
  return name_end != std::string::npos && line.at(name_end + 2) != 'Z';
}

}  // namespace rematch::tests

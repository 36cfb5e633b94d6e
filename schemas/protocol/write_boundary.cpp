#include "schemas/protocol/write_boundary.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>

namespace rematch::protocol {

namespace {

long wanted_boundary() {
  const char* text = std::getenv(kCrashVariable);  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
  return text == nullptr ? 0 : std::strtol(text, nullptr, 10);
}

}  // namespace

void pass_write_boundary(std::string_view done, std::string_view what) {
  static const long wanted = wanted_boundary();
  static std::atomic<long> num_passed{0};
  if (wanted <= 0 || ++num_passed != wanted) return;
  const std::string line =
      "killed at write boundary " + std::to_string(wanted) + ": " + std::string(what) + ": " + std::string(done) + "\n";
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
  ::kill(::getpid(), SIGKILL);
}

}  // namespace rematch::protocol

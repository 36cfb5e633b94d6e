#include "tests/support/fake_trainer/misdeeds.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

namespace rematch::tests {

void hang(SigtermAnswer answer) {
  if (answer == SigtermAnswer::kIgnore) ::signal(SIGTERM, SIG_IGN);
  for (;;) ::pause();
}

void flood_stdout(std::int64_t megabytes) {
  const std::string line = std::string(1023, 'x') + "\n";
  for (std::int64_t written = 0; written < megabytes * 1024; ++written)
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return;
}

void start_daemon(const std::filesystem::path& pid_file) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() == 0) {
      append_raw(pid_file, (std::to_string(::getpid()) + "\n").c_str());
      ::sleep(600);
    }
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  while (!std::filesystem::exists(pid_file) || std::filesystem::file_size(pid_file) == 0) ::usleep(500);
}

void fill_memory(std::int64_t megabytes) {
  static std::vector<std::vector<char>> kept;
  for (std::int64_t i = 0; i < megabytes; ++i) kept.emplace_back(std::size_t{1} << 20, 'x');
}

void append_raw(const std::filesystem::path& file, const char* text) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  static_cast<void>(!::write(descriptor, text, std::strlen(text)));
  ::close(descriptor);
}

}  // namespace rematch::tests

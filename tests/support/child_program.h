// A program started by a test: its output in files, its end awaited with a deadline, killed when the test forgets it.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/time_allowance.h"

namespace rematch::tests {

class ChildProgram {
 public:
  ChildProgram(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
               const std::filesystem::path& output_folder)
      : out_(output_folder / "stdout"), err_(output_folder / "stderr"), pid_(::fork()) {
    if (pid_ == 0) become(command, environment);
  }
  ~ChildProgram() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
  }
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  pid_t pid() const { return pid_; }
  void kill(int signal) const { ::kill(pid_, signal); }

  // The exit code, or 128 + the signal.
  int wait(std::chrono::seconds deadline = std::chrono::seconds(60)) {
    const auto until = std::chrono::steady_clock::now() + time_allowance(deadline);
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() >= until) throw std::runtime_error("the program did not end in time");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string out() const { return text_of(out_); }
  std::string err() const { return text_of(err_); }

 private:
  static std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  [[noreturn]] void become(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment) const {
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDOUT_FILENO);
    ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), STDERR_FILENO);
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));  // execv asks for it
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }

  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_;
};

}  // namespace rematch::tests

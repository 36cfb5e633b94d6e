#include "orchestrator/launch/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect_pipe.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/readable_pipe.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/writable_pipe.hpp>
#include <boost/process/v2/posix/default_launcher.hpp>
#include <boost/process/v2/process.hpp>
#include <cerrno>
#include <string_view>

namespace rematch::launch {

namespace {

namespace asio = boost::asio;
namespace v2 = boost::process::v2;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// Runs in the child between fork and exec. Streams are bound here: bind_fd of Boost 1.81 ends a function without its return value.
struct PrepareChild {
  Placement placement;
  pid_t group;
  bool die_with_parent;
  pid_t parent;
  std::array<int, 3> streams;  // what becomes stdin, stdout, stderr

  error_code on_exec_setup(v2::posix::default_launcher&, const v2::filesystem::path&, const char* const*) const {
    bool placed = true;
    switch (placement) {
      case Placement::kSameGroup: break;
      case Placement::kNewSession: placed = ::setsid() != -1; break;
      case Placement::kNewGroup: placed = ::setpgid(0, 0) == 0; break;
      case Placement::kJoinGroup: placed = ::setpgid(0, group) == 0; break;
    }
    if (!placed || !bind_streams()) return error_code(errno, boost::system::system_category());
    if (die_with_parent) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);  // the parent died before the request took hold
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    return {};
  }
  // Boost would call exit(), which runs the parent's exit handlers and writes out its buffers a second time.
  template <typename... Arguments>
  void on_exec_error(Arguments&&...) const {
    ::_exit(127);
  }
  bool bind_streams() const {
    for (int target = STDIN_FILENO; target <= STDERR_FILENO; ++target)
      if (::dup2(streams[static_cast<std::size_t>(target)], target) == -1) return false;
    return true;
  }
};

bool is_meant(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

std::vector<std::string> merged_environment(const ProcessSpec& spec) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const bool is_unset = std::any_of(spec.unset.begin(), spec.unset.end(), [&](const auto& pattern) { return is_meant(pattern, name); });
    if (!is_unset && !spec.environment.contains(name)) merged.push_back(text);
  }
  for (const auto& [name, value] : spec.environment) merged.push_back(name + "=" + value);
  return merged;
}

ProcessEnd process_end(int status) {
  ProcessEnd end;
  end.end_mono_ns = mono_now_ns();
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

class BoostChild final : public ChildProcess {
 public:
  explicit BoostChild(v2::basic_process<Executor> process) : pid_(process.id()), handle_(process.detach()) {}
  ~BoostChild() override { *state_ = State::kForgotten; }
  pid_t pid() const override { return pid_; }
  bool running() const override { return *state_ == State::kRunning; }

  void wait(OnProcessEnd on_end) override {
    handle_.async_wait([state = state_, on_end = std::move(on_end)](error_code error, int status) {
      if (error || *state == State::kForgotten) return;
      *state = State::kEnded;
      on_end(process_end(status));
    });
  }

 private:
  enum class State { kRunning, kEnded, kForgotten };
  pid_t pid_;
  std::shared_ptr<State> state_ = std::make_shared<State>(State::kRunning);  // shared with a completion that is queued
  v2::basic_process_handle<Executor> handle_;
};

base::Error start_error(const ProcessSpec& spec, const error_code& error) {
  return base::Error{"cannot start " + spec.program.string() + ": " + error.message()};
}

}  // namespace

base::Result<std::unique_ptr<ChildProcess>> start_process(asio::io_context& context, const ProcessSpec& spec) {
  const Descriptor input(spec.input_descriptor ? -1 : ::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor output(spec.output ? ::open(spec.output->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1);
  if (spec.output && output.number() < 0)
    return base::Error{"cannot open " + spec.output->string() + " for a process's output: " + std::generic_category().message(errno)};
  const int in = spec.input_descriptor.value_or(input.number());
  const int out = spec.output ? output.number() : spec.output_descriptor.value_or(STDOUT_FILENO);
  const int err = spec.output ? output.number() : spec.error_descriptor.value_or(STDERR_FILENO);

  const std::vector<std::string> environment = merged_environment(spec);
  std::vector<const char*> environment_pointers;
  for (const std::string& entry : environment) environment_pointers.push_back(entry.c_str());
  environment_pointers.push_back(nullptr);
  v2::posix::default_launcher launcher;
  launcher.env = environment_pointers.data();
  error_code error;
  v2::basic_process<Executor> process =
      launcher(context.get_executor(), error, v2::filesystem::path(spec.program.string()), spec.arguments,
               PrepareChild{spec.placement, spec.group, spec.die_with_parent, ::getpid(), {in, out, err}});
  if (error) {
    if (launcher.pid > 0) ::waitpid(launcher.pid, nullptr, 0);  // the child that could not become the program
    return start_error(spec, error);
  }
  return std::unique_ptr<ChildProcess>(std::make_unique<BoostChild>(std::move(process)));
}

// One stream of a child, read to its end.
class CapturedStream {
 public:
  explicit CapturedStream(asio::io_context& context) : read_end_(context), write_end_(context) {
    asio::connect_pipe(read_end_, write_end_);
  }
  int child_end() { return write_end_.native_handle(); }
  // Once the child has its end.
  template <typename OnEnd>
  void read_into(std::string& text, OnEnd on_end) {
    write_end_.close();
    asio::async_read(read_end_, asio::dynamic_buffer(text), [on_end](error_code, std::size_t) { on_end(); });
  }
  void close() { read_end_.close(); }

 private:
  asio::readable_pipe read_end_;
  asio::writable_pipe write_end_;
};

base::Result<CapturedOutput> run_captured(const ProcessSpec& spec, std::chrono::milliseconds deadline, Capture what) {
  asio::io_context context;
  CapturedStream output(context);
  CapturedStream errors(context);
  ProcessSpec piped = spec;
  piped.output_descriptor = output.child_end();
  if (what == Capture::kOutputAndErrors) piped.error_descriptor = errors.child_end();
  piped.placement = Placement::kNewGroup;

  asio::steady_timer timer(context, deadline);
  CapturedOutput captured;
  bool late = false;
  int open_ends = 3;  // the process, its stdout and its stderr; of one that is not captured nothing comes
  const auto close_one = [&] {
    if (--open_ends == 0) timer.cancel();
  };
  const auto child = start_process(context, piped);
  if (!child) return child.error();
  child.value()->wait([&](ProcessEnd end) {
    captured.end = end;
    close_one();
  });
  output.read_into(captured.text, close_one);
  errors.read_into(captured.error_text, close_one);
  timer.async_wait([&](error_code error) {
    if (error) return;
    late = true;
    if (child.value()->running()) ::kill(-child.value()->pid(), SIGKILL);
    output.close();  // a grandchild that left the group may hold the other end
    errors.close();
  });
  context.run();
  if (late) return base::Error{spec.program.string() + " had not ended after " + std::to_string(deadline.count()) + " ms and was killed"};
  return captured;
}

std::int64_t mono_now_ns() { return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::int64_t unix_now_ns() { return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace rematch::launch

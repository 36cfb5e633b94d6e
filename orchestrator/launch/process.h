// The one wrapping of Boost.Process: start a child with its streams, environment and place among sessions and groups, and hear of its end.
// One thread, the one that runs the io_context. Ends are heard through a pidfd: no polling. All descriptors of ours are close-on-exec.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/base/result.h"

namespace boost::asio {
class io_context;
}

namespace rematch::launch {

enum class Placement {
  kSameGroup,   // beside the caller
  kNewSession,  // out of reach of the terminal
  kNewGroup,    // leader of a process group of its own
  kJoinGroup,   // member of ProcessSpec::group
};

struct ProcessSpec {
  std::filesystem::path program;
  std::vector<std::string> arguments;              // without the program's own name
  std::map<std::string, std::string> environment;  // set on top of the caller's own
  std::vector<std::string> unset;                  // taken out of the caller's own: names, or beginnings of names with '*' behind
  std::optional<std::filesystem::path> output;     // stdout and stderr are appended to this file
  std::optional<int> input_descriptor;             // stdin; /dev/null without
  std::optional<int> output_descriptor;            // stdout, when there is no output file; the caller's own without
  std::optional<int> error_descriptor;             // stderr, when there is no output file; the caller's own without
  Placement placement = Placement::kSameGroup;
  pid_t group = 0;
  bool die_with_parent = false;  // SIGKILL when the starting process is gone
};

struct ProcessEnd {
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::int64_t end_mono_ns = 0;
};

using OnProcessEnd = std::function<void(ProcessEnd)>;

class ChildProcess {
 public:
  virtual ~ChildProcess() = default;  // forgets the child; does not end it
  virtual pid_t pid() const = 0;
  // Calls on_end once, from the io_context, unless this object is gone by then. The child is not reaped before it is waited for: until then
  // its pid, and the group that it leads, stay its own.
  virtual void wait(OnProcessEnd on_end) = 0;
  virtual bool running() const = 0;  // false once on_end was called
};

// The error says why the program could not be started.
base::Result<std::unique_ptr<ChildProcess>> start_process(boost::asio::io_context& context, const ProcessSpec& spec);

struct CapturedOutput {
  ProcessEnd end;
  std::string text;        // of stdout
  std::string error_text;  // of stderr, where it was captured
};

enum class Capture {
  kOutput,  // stderr is the caller's own
  kOutputAndErrors,
};

// Runs a program to its end and returns what it wrote to stdout; at the deadline it is killed and the error says so.
base::Result<CapturedOutput> run_captured(const ProcessSpec& spec, std::chrono::milliseconds deadline, Capture what = Capture::kOutput);

std::int64_t mono_now_ns();
std::int64_t unix_now_ns();

}  // namespace rematch::launch

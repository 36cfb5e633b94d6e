// rematch: the controller. Everything of interest is in cli/; what no verb can survive ends here.
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>

#include "orchestrator/cli/command_line.h"
#include "orchestrator/launch/full_disk.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"

namespace {

using rematch::cli::Exit;

std::string advice(const std::error_code& code) {
  if (rematch::launch::is_full_disk(code)) return ". Free space, then run again: what was done stays done";
  if (code == std::errc::read_only_file_system || code == std::errc::permission_denied)
    return ". Choose a place that can be written with --workspace";
  return "";
}

// Of a pipe.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

// What was printed may be lost until here: on a full disk the last of it. A reader that wanted no more, such as head, has what it wanted.
Exit after_flush(Exit exit) {
  errno = 0;
  std::cout.flush();
  if (std::cout.good() || reader_is_gone()) return exit;
  const std::string reason = errno == 0 ? "" : ": " + std::generic_category().message(errno);
  std::cerr << "rematch: stdout could not be written to its end" << reason << "\n";
  return exit == Exit::kOk ? Exit::kEnvironment : exit;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(after_flush(rematch::cli::run_command_line(argc, argv, {std::cout, std::cerr})));
  } catch (const rematch::store::StoreError& problem) {
    std::cerr << "rematch: " << problem.what() << "\n";
    return static_cast<int>(Exit::kEnvironment);
  } catch (const rematch::protocol::DocumentError& problem) {
    std::cerr << "rematch: " << problem.what() << "\n";
    return static_cast<int>(Exit::kEnvironment);
  } catch (const std::system_error& problem) {
    std::cerr << "rematch: " << problem.what() << advice(problem.code()) << "\n";
    return static_cast<int>(Exit::kEnvironment);
  } catch (const std::exception& problem) {
    std::cerr << "rematch: internal error: " << problem.what() << "\n";
    return static_cast<int>(Exit::kInternal);
  }
}

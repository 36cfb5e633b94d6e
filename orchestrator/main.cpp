// rematch: the controller. Everything of interest is in cli/; what no verb can survive ends here.
#include <exception>
#include <iostream>
#include <string>
#include <system_error>

#include "orchestrator/cli/command_line.h"
#include "orchestrator/launch/full_disk.h"
#include "orchestrator/store/store.h"
#include "schemas/protocol/document_error.h"

namespace {

std::string advice(const std::error_code& code) {
  if (rematch::launch::is_full_disk(code)) return ". Free space, then run again: what was done stays done";
  if (code == std::errc::read_only_file_system || code == std::errc::permission_denied)
    return ". Choose a place that can be written with --workspace";
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  using rematch::cli::Exit;
  try {
    return static_cast<int>(rematch::cli::run_command_line(argc, argv, {std::cout, std::cerr}));
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

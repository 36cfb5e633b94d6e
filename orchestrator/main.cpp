// rematch: the controller. Everything of interest is in cli/; what no verb can survive ends here.
#include <exception>
#include <iostream>

#include "orchestrator/cli/command_line.h"

int main(int argc, char** argv) {
  using rematch::cli::Exit;
  try {
    return static_cast<int>(rematch::cli::run_command_line(argc, argv, {std::cout, std::cerr}));
  } catch (const std::exception& problem) {
    std::cerr << "rematch: internal error: " << problem.what() << "\n";
    return static_cast<int>(Exit::kInternal);
  }
}

// A test program's main that answers the hidden verb `supervise` as rematch does: the local launcher starts its own program again.
#pragma once

#include <gtest/gtest.h>

#include <exception>
#include <iostream>

#include "orchestrator/launch/supervisor.h"

namespace rematch::tests {

// A test that fails early takes the attempt folder away under a supervisor that still ends its ranks.
inline int supervise_for_a_test(const launch::SuperviseArguments& arguments) {
  try {
    return launch::supervise(arguments);
  } catch (const std::exception& error) {
    std::cerr << "supervisor of a test: " << error.what() << "\n";
    return 1;
  }
}

inline int supervising_main(int argc, char** argv) {
  if (const auto arguments = launch::parse_supervise_command(argc, argv)) return supervise_for_a_test(*arguments);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace rematch::tests

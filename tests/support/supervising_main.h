// A test program's main that answers the hidden verb `supervise` as rematch does: the local launcher starts its own program again.
#pragma once

#include <gtest/gtest.h>

#include "orchestrator/launch/supervisor.h"

namespace rematch::tests {

inline int supervising_main(int argc, char** argv) {
  if (const auto arguments = launch::parse_supervise_command(argc, argv)) return launch::supervise(*arguments);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

}  // namespace rematch::tests

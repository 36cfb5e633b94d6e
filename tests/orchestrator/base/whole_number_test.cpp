#include "orchestrator/base/whole_number.h"

#include <gtest/gtest.h>

namespace rematch::base {
namespace {

TEST(WholeNumber, IsAllOfTheText) {
  EXPECT_EQ(whole_number("17"), 17);
  EXPECT_EQ(whole_number("-4"), -4);
  for (const char* text : {"", "1 ", " 1", "1.0", "0x1", "9_2", "99999999999999999999"}) EXPECT_FALSE(whole_number(text)) << text;
}

}  // namespace
}  // namespace rematch::base

#include "orchestrator/base/hash.h"

#include <gtest/gtest.h>

namespace rematch::base {
namespace {

TEST(ContentHash, GivesThePublishedValuesOfFnv1a) {
  EXPECT_EQ(content_hash(""), "cbf29ce484222325");
  EXPECT_EQ(content_hash("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(content_hash("foobar"), "85944171f73967e8");
}

TEST(ContentHash, SeesBytesAboveAsciiAndZeroBytes) {
  EXPECT_NE(content_hash("\xC3\xA4"), content_hash("\xC3\xB6"));
  EXPECT_NE(content_hash(std::string_view("\0", 1)), content_hash(""));
}

}  // namespace
}  // namespace rematch::base

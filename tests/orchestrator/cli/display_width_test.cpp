#include "orchestrator/cli/display_width.h"

#include <gtest/gtest.h>

namespace rematch::cli {
namespace {

TEST(DisplayWidth, CountsColumnsAndNotBytes) {
  EXPECT_EQ(display_width("moe_act"), 7);
  EXPECT_EQ(display_width("für"), 3);
  EXPECT_EQ(display_width("模型"), 4);
  EXPECT_EQ(display_width("e\xCC\x81"), 1) << "a combining accent";
  EXPECT_EQ(display_width("\xFF\xC3"), 2) << "bytes that are no character";
}

TEST(DisplayWidth, CutsBetweenCharacters) {
  EXPECT_EQ(cut_to_width("größere", 7), "größere");
  EXPECT_EQ(cut_to_width("größere", 6), "grö...");
  EXPECT_EQ(cut_to_width("模型模型", 7), "模型...");
  EXPECT_EQ(cut_to_width("模型模型", 6), "模...") << "half of a character does not fit";
  EXPECT_EQ(cut_to_width("模型", 3), "模");
  EXPECT_EQ(cut_to_width("abc", 0), "");
}

TEST(DisplayWidth, LetsNoControlCharacterThrough) { EXPECT_EQ(on_one_line("a\nb\x1b[2Jc\x7f"), "a b [2Jc "); }

}  // namespace
}  // namespace rematch::cli

#include "orchestrator/compat/version.h"

#include <gtest/gtest.h>

namespace rematch::compat {
namespace {

TEST(Versions, AreInTheOrderOfPep440) {
  const char* const ascending[] = {
      "1.13.0", "2.5.10",      "2.6.0.dev0", "2.6.0.dev1+abc", "2.6.0a1.dev2",     "2.6.0a1",     "2.6.0b2", "2.6.0rc1", "2.6.0rc1.post1",
      "2.6",    "2.6.0+cu124", "2.6.0+2",    "2.6.0+11",       "2.6.0.post1.dev3", "2.6.0.post1", "2.10.0",  "1!0.1"};
  for (std::size_t i = 0; i < std::size(ascending); ++i)
    for (std::size_t j = 0; j < std::size(ascending); ++j)
      EXPECT_EQ(*Version::parse(ascending[i]) < *Version::parse(ascending[j]), i < j) << ascending[i] << " " << ascending[j];
}

TEST(Versions, HaveSeveralSpellings) {
  for (const auto& [one, other] : {std::pair{"2.6", "2.6.0.0"},
                                   {"v2.6.0", "2.6"},
                                   {"2.6.0-1", "2.6.0.post1"},
                                   {"2.6.0dev0", "2.6.0.dev0"},
                                   {"2.6.0alpha", "2.6a0"},
                                   {"2.6.0C1", "2.6rc1"},
                                   {" 2.6 ", "2.6"},
                                   {"2.6.0.rev2", "2.6.0.post2"}})
    EXPECT_EQ(*Version::parse(one), *Version::parse(other)) << one;
}

TEST(Versions, ThatAreNoneAreNull) {
  for (const char* text : {"", "two", "2..6", "2.6.0+", "2.6 0", "-1", "2.6.0.foo"}) EXPECT_FALSE(Version::parse(text)) << text;
}

}  // namespace
}  // namespace rematch::compat

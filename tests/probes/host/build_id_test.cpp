#include "probes/host/build_id.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace rematch::probes {
namespace {

TEST(ProgramBuildId, IsTheNoteInTheProgramsFile) {
  const auto id = program_build_id();
  ASSERT_TRUE(id.has_value());
  ASSERT_EQ(id->size(), 40u);
  EXPECT_EQ(build_id(), *id);
  std::string bytes;
  for (std::size_t i = 0; i < id->size(); i += 2) bytes += static_cast<char>(std::stoi(id->substr(i, 2), nullptr, 16));
  // A note of type 3 named GNU, with the digest behind it.
  const std::string note = std::string("\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0", 16) + bytes;
  std::ifstream program("/proc/self/exe", std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(program), {}};
  EXPECT_NE(content.find(note), std::string::npos);
}

}  // namespace
}  // namespace rematch::probes

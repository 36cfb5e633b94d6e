#include "orchestrator/cli/output_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>

#include "tests/support/temp_dir.h"

namespace rematch::cli {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class OutputFile : public ::testing::Test {
 protected:
  Exit write(const fs::path& path) { return write_output("text\n", path.string(), {out_, err_}); }

  tests::TempDir temp_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(OutputFile, FollowsLinksAndLeavesThemAsTheyAre) {
  const fs::path folder = temp_.path() / "folder";
  fs::create_directory(folder);
  fs::create_symlink("folder/b", temp_.path() / "a");
  fs::create_symlink("c", folder / "b");
  EXPECT_EQ(write(temp_.path() / "a"), Exit::kOk) << err_.str();
  EXPECT_TRUE(fs::is_symlink(temp_.path() / "a"));
  EXPECT_TRUE(fs::is_symlink(folder / "b"));
  EXPECT_EQ(content(folder / "c"), "text\n");
  EXPECT_EQ(write(temp_.path() / "a"), Exit::kOk) << "where it is there already";
  EXPECT_TRUE(fs::is_symlink(temp_.path() / "a"));
}

TEST_F(OutputFile, WritesIntoAPipeThatIsThere) {
  const fs::path pipe = temp_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto read = std::async(std::launch::async, [&] { return content(pipe); });
  EXPECT_EQ(write(pipe), Exit::kOk) << err_.str();
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(read.get(), "text\n");
}

TEST_F(OutputFile, SaysThatADeviceIsFullOrAFolderIsNoFile) {
  EXPECT_EQ(write("/dev/full"), Exit::kEnvironment);
  EXPECT_NE(err_.str().find("cannot write /dev/full: No space left on device"), std::string::npos) << err_.str();
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
  EXPECT_EQ(write(temp_.path()), Exit::kEnvironment);
}

}  // namespace
}  // namespace rematch::cli

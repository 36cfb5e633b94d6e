#include "orchestrator/cli/log_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace rematch::cli {
namespace {

class Log {
 public:
  void write(const std::string& text) const { std::ofstream(path_, std::ios::app | std::ios::binary) << text; }
  void replace(const std::string& text) const { std::ofstream(path_, std::ios::trunc | std::ios::binary) << text; }
  LogFile file() const { return LogFile(path_); }

 private:
  tests::TempDir folder_;
  std::filesystem::path path_ = folder_.path() / "rank-00000.log";
};

TEST(LogFile, GivesTheLastLinesWhetherOrNotTheLastOneIsWhole) {
  const Log log;
  EXPECT_EQ(log.file().last_lines(5), "") << "no such file";
  log.write("a\nb\n\nc");
  EXPECT_EQ(log.file().last_lines(0), "");
  EXPECT_EQ(log.file().last_lines(1), "c");
  EXPECT_EQ(log.file().last_lines(2), "\nc");
  EXPECT_EQ(log.file().last_lines(3), "b\n\nc");
  EXPECT_EQ(log.file().last_lines(99), "a\nb\n\nc");
  log.write("\n");
  EXPECT_EQ(log.file().last_lines(1), "c\n");
}

TEST(LogFile, FindsLinesThatBeginFarBackAndCutsWhatIsLongerThanItReads) {
  const Log log;
  const std::string line(200'000, 'x');
  for (int i = 0; i < 10; ++i) log.write(std::to_string(i) + line + "\n");
  EXPECT_EQ(log.file().last_lines(2), "8" + line + "\n9" + line + "\n");
  log.replace(std::string((std::size_t{5} << 20), 'y'));
  EXPECT_EQ(log.file().last_lines(1).size(), std::size_t{4} << 20);
}

TEST(LogFile, GoesOnWithWholeLinesAndGivesTheRestWhenAsked) {
  const Log log;
  log.write("old\n");
  LogFile file = log.file();
  EXPECT_EQ(file.last_lines(1), "old\n");
  EXPECT_EQ(file.more_lines(), "");
  log.write("one\ntw");
  EXPECT_EQ(file.more_lines(), "one\n");
  EXPECT_EQ(file.more_lines(), "");
  log.write("o\n");
  EXPECT_EQ(file.more_lines(), "two\n");
  log.write("end");
  EXPECT_EQ(file.rest(), "end");
  EXPECT_EQ(file.rest(), "");
  log.replace("new\n");
  EXPECT_EQ(file.more_lines(), "new\n") << "a file that became shorter is another";
}

TEST(Printable, KeepsTextAndColoursAndNothingElseThatATerminalObeys) {
  EXPECT_EQ(printable("a\tb\r\n\x1b[31mred \xc3\xa9"), "a\tb\r\n\x1b[31mred \xc3\xa9");
  EXPECT_EQ(printable(std::string("a\0b\x07\x7f", 5)), "a?b??");
}

}  // namespace
}  // namespace rematch::cli

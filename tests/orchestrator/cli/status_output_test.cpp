#include "orchestrator/cli/status_output.h"

#include <gtest/gtest.h>

#include <sstream>

#include "orchestrator/cli/display_width.h"

namespace rematch::cli {
namespace {

StudyStatus study(const std::string& name) {
  StudyStatus status;
  status.name = name;
  status.study_id = "0123456789abcdef";
  status.num_planned = 14;
  status.num_done = 3;
  status.num_failed_attempts = 0;
  return status;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(StatusTable, HasEverythingWhereNothingLimitsIt) {
  const std::string text = status_table({study("first")});
  for (const char* part : {"0123456789abcdef", "provenance", "failed attempts", "stopped; run again to go on"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(StatusTable, LeavesOutTheColumnsThatMatterLeastOnANarrowTerminal) {
  const std::string narrow = status_table({study("first")}, TerminalSize{60, 24});
  EXPECT_EQ(narrow.find("0123456789abcdef"), std::string::npos);
  EXPECT_NE(narrow.find("stopped; run again to go on"), std::string::npos) << narrow;
  EXPECT_NE(status_table({study("first")}, TerminalSize{120, 24}).find("0123456789abcdef"), std::string::npos);
  for (int num_columns = 1; num_columns < 130; ++num_columns)
    for (const std::string& line : lines_of(status_table({study("first"), study("größere Studie")}, TerminalSize{num_columns, 24})))
      EXPECT_LE(display_width(line), num_columns) << line;
}

TEST(StatusTable, HasNoMoreLinesThanTheTerminalAndSaysHowManyAreLeftOut) {
  const auto lines = lines_of(status_table(std::vector<StudyStatus>(30, study("first")), TerminalSize{80, 10}));
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines.back(), "and 23 more lines; `rematch status` prints all");
}

}  // namespace
}  // namespace rematch::cli

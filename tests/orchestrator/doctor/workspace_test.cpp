#include "orchestrator/doctor/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "orchestrator/engine/workspace_lock.h"
#include "tests/support/temp_dir.h"

namespace rematch::doctor {
namespace {

Finding found(const Findings& findings, const std::string& name) {
  const auto place = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) { return finding.name == name; });
  if (place == findings.end()) throw std::runtime_error("nothing is said of " + name);
  return *place;
}

TEST(FileSystemKind, TellsThoseOfANetworkFromLocalOnes) {
  EXPECT_EQ(file_system_kind(0x6969).name, "nfs");
  EXPECT_TRUE(file_system_kind(0x6969).is_network);
  EXPECT_TRUE(file_system_kind(0x0BD00BD0).is_network);
  EXPECT_TRUE(file_system_kind(static_cast<std::int32_t>(0xFE534D42)).is_network) << "where the system's type is signed";
  EXPECT_FALSE(file_system_kind(0xEF53).is_network);
  EXPECT_EQ(file_system_kind(0x1234).name, "unknown (0x1234)");
}

TEST(BytesText, HasOneDecimalOfTheLargestUnit) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{3} << 30), "3.0 GiB");
}

TEST(ExamineWorkspace, FindsNothingWrongWithAFolderThatIsNotThereYetAndMakesNone) {
  const tests::TempDir folder;
  const Findings findings = examine_workspace(folder.path() / "a" / "b");
  for (const char* name : {"workspace", "lock", "database", "leftovers"}) EXPECT_EQ(found(findings, name).state, State::kOk) << name;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "a"));
}

TEST(ExamineWorkspace, NamesWhoHoldsItAndAFileThatIsNoDatabase) {
  const tests::TempDir folder;
  const auto lock = engine::WorkspaceLock::take(folder.path(), "first-12ab");
  std::ofstream(folder.path() / "rematch.db") << std::string(4096, 'x');
  const Findings findings = examine_workspace(folder.path());
  EXPECT_EQ(found(findings, "lock").state, State::kProblem);
  EXPECT_NE(found(findings, "lock").found.find("first-12ab"), std::string::npos);
  EXPECT_EQ(found(findings, "database").state, State::kProblem);
}

TEST(ExamineWorkspace, CallsAFileInItsPlaceAProblem) {
  const tests::TempDir folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_EQ(found(examine_workspace(folder.path() / "file" / "runs"), "workspace").state, State::kProblem);
}

}  // namespace
}  // namespace rematch::doctor

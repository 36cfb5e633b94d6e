#include "orchestrator/engine/workspace_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace rematch::engine {
namespace {

TEST(WorkspaceLock, CreatesTheWorkspaceAndSaysWhoWorksThere) {
  const tests::TempDir folder;
  const auto workspace = folder.path() / "a" / "b";
  const auto lock = WorkspaceLock::take(workspace, "first-1234");
  ASSERT_TRUE(lock.ok());
  const auto holder = WorkspaceLock::holder(workspace);
  ASSERT_TRUE(holder);
  EXPECT_EQ(holder->pid, ::getpid());
  EXPECT_EQ(holder->study, "first-1234");
  EXPECT_FALSE(holder->host.empty());
}

TEST(WorkspaceLock, RefusesASecondHolderAndNamesTheFirst) {
  const tests::TempDir folder;
  const auto first = WorkspaceLock::take(folder.path(), "first-1234");
  const auto second = WorkspaceLock::take(folder.path(), "other");
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos) << second.error().message;
  EXPECT_NE(second.error().message.find("first-1234"), std::string::npos) << second.error().message;
}

TEST(WorkspaceLock, SaysSinceWhenItIsHeld) {
  EXPECT_EQ(to_string(WorkspaceHolder{17, "node-a", "first-12ab", 1'700'000'000'000'000'000}),
            "process 17 on node-a (study first-12ab, since 2023-11-14 22:13:20 UTC)");
  EXPECT_EQ(to_string(WorkspaceHolder{17, "node-a", "first-12ab", std::nullopt}), "process 17 on node-a (study first-12ab)");
}

TEST(WorkspaceLock, IsFreeAgainWhenItsHolderIsGone) {
  const tests::TempDir folder;
  { const auto lock = WorkspaceLock::take(folder.path(), "first-1234"); }
  EXPECT_FALSE(WorkspaceLock::holder(folder.path())) << "the file that is left names nobody who works here";
  EXPECT_TRUE(WorkspaceLock::take(folder.path(), "other").ok());
}

TEST(WorkspaceLock, SaysWhyAWorkspaceCannotBeMade) {
  const tests::TempDir folder;
  std::ofstream(folder.path() / "file") << "x";
  const auto lock = WorkspaceLock::take(folder.path() / "file", "first");
  ASSERT_FALSE(lock.ok());
  EXPECT_NE(lock.error().message.find((folder.path() / "file").string()), std::string::npos) << lock.error().message;
}

}  // namespace
}  // namespace rematch::engine

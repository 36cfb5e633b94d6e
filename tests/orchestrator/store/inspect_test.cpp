#include "orchestrator/store/inspect.h"

#include <gtest/gtest.h>

#include <fstream>

#include "orchestrator/store/store.h"
#include "tests/support/temp_dir.h"

namespace rematch::store {
namespace {

TEST(PutDatabaseAside, TakesANameThatIsFree) {
  const tests::TempDir folder;
  const std::filesystem::path path = folder.path() / "rematch.db";
  ASSERT_TRUE(Store::open(path));
  EXPECT_EQ(put_database_aside(path), path.string() + ".aside-1");
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(Store::open(path));
  EXPECT_EQ(put_database_aside(path), path.string() + ".aside-2");
  const auto state = inspect_database(path.string() + ".aside-1");
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(state.value().version, state.value().newest_version);
  EXPECT_TRUE(state.value().damage.empty());
}

TEST(InspectDatabase, SaysWhyAFileIsNone) {
  const tests::TempDir folder;
  std::ofstream(folder.path() / "rematch.db") << std::string(4096, 'x');
  const auto state = inspect_database(folder.path() / "rematch.db");
  ASSERT_FALSE(state);
  EXPECT_NE(state.error().message.find("not a database"), std::string::npos) << state.error().message;
}

}  // namespace
}  // namespace rematch::store

#include "orchestrator/launch/trainer.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/temp_dir.h"

namespace rematch::launch {
namespace {

namespace fs = std::filesystem;

class TrainerTest : public ::testing::Test {
 protected:
  void SetUp() override { ::unsetenv("REMATCH_TRAINER"); }
  void TearDown() override { ::unsetenv("REMATCH_TRAINER"); }

  fs::path script(const std::string& name, const std::string& body) const {
    const fs::path path = folder_.path() / name;
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }

  tests::TempDir folder_;
};

TEST_F(TrainerTest, TakesTheGivenOneBeforeTheEnvironmentsOne) {
  const fs::path given = script("given", "");
  ::setenv("REMATCH_TRAINER", script("environment", "").c_str(), 1);
  EXPECT_EQ(locate_trainer(given).value(), given);
  EXPECT_EQ(locate_trainer(std::nullopt).value().filename(), "environment");
}

TEST_F(TrainerTest, DoesNotSearchOnWhenANamedOneIsMissing) {
  ::setenv("REMATCH_TRAINER", script("environment", "").c_str(), 1);
  const auto trainer = locate_trainer(folder_.path() / "missing");
  ASSERT_FALSE(trainer.ok());
  EXPECT_NE(trainer.error().message.find("--trainer names"), std::string::npos) << trainer.error().message;
}

TEST_F(TrainerTest, FindsOneOnPathAndNamesAllPlacesWhenThereIsNone) {
  const std::string path_before = ::getenv("PATH");
  ::setenv("PATH", ("/no/such/folder:" + folder_.path().string()).c_str(), 1);
  const auto missing = locate_trainer(std::nullopt, "/no/such/own/folder");
  script("rematch-train", "");
  const auto found = locate_trainer(std::nullopt, "/no/such/own/folder");
  ::setenv("PATH", path_before.c_str(), 1);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("/no/such/folder/rematch-train"), std::string::npos) << missing.error().message;
  EXPECT_NE(missing.error().message.find((folder_.path() / "rematch-train").string()), std::string::npos);
  EXPECT_EQ(found.value(), folder_.path() / "rematch-train");
}

TEST_F(TrainerTest, ReadsTheDescribeDocument) {
  const auto described = describe_trainer(fs::path(REMATCH_BIN_DIR) / "fake_trainer");
  ASSERT_TRUE(described.ok()) << described.error().message;
  EXPECT_EQ(described.value().build_id, "fake-trainer-1");
  EXPECT_FALSE(described.value().families.empty());
}

TEST_F(TrainerTest, ReportsATrainerThatFailsOrPrintsSomethingElse) {
  EXPECT_NE(describe_trainer(script("fails", "exit 3")).error().message.find("exit code 3"), std::string::npos);
  EXPECT_NE(describe_trainer(script("talks", "echo hello")).error().message.find("not JSON: \"hello"), std::string::npos);
  EXPECT_NE(describe_trainer(script("lies", "echo '{}'")).error().message.find("same version"), std::string::npos);
}

TEST_F(TrainerTest, EndsATrainerThatDoesNotAnswerEvenIfAGrandchildHoldsItsOutput) {
  const fs::path silent = script("silent", "sleep 60 & sleep 60");
  const auto described = describe_trainer(silent, std::chrono::milliseconds(100));
  ASSERT_FALSE(described.ok());
  EXPECT_NE(described.error().message.find("had not ended after 100 ms"), std::string::npos) << described.error().message;
}

TEST_F(TrainerTest, ReadsMoreThanAPipeHolds) {
  const auto described = describe_trainer(script("long", "head -c 1000000 /dev/zero | tr '\\0' x"));
  ASSERT_FALSE(described.ok());
  EXPECT_NE(described.error().message.find("1000000 bytes"), std::string::npos) << described.error().message;
}

}  // namespace
}  // namespace rematch::launch

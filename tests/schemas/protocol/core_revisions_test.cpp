#include "schemas/protocol/core_revisions.h"

#include <gtest/gtest.h>

namespace rematch::protocol {
namespace {

constexpr const char* kFullHash = "24bad8e677d22625d86ef2a54c9506b6e4992c93";

TEST(ResolveRevision, TakesACommitShorterOrLongerThanTheTables) {
  EXPECT_EQ(resolve_revision("24bad8e"), kSnapshot);
  EXPECT_EQ(resolve_revision(kFullHash), kSnapshot);
  EXPECT_EQ(resolve_revision("d98e8a64"), kMain);
}

TEST(ResolveRevision, TakesTheReleaseAndTheBranchesByName) {
  EXPECT_EQ(resolve_revision("0.16.1"), kRelease0161);
  EXPECT_EQ(resolve_revision("main"), kMain);
  EXPECT_EQ(resolve_revision("dev"), kDev);
}

TEST(ResolveRevision, RefusesWhatIsTooShortUnknownOrNotHex) {
  for (const std::string text : {"24bad8", "", "24bad8f", "24bad8e6-dirty", "0.16", "0.16.10", "0.16.2", "master"})
    EXPECT_FALSE(resolve_revision(text)) << text;
  EXPECT_FALSE(resolve_revision(std::string(kFullHash) + "0"));
}

TEST(Contains, GoesByTheRevisionAndNotByItsSpelling) {
  EXPECT_TRUE(contains(kMainAndDev, "main"));
  EXPECT_TRUE(contains(kWithGdnNormOut, kFullHash));
  EXPECT_FALSE(contains(kWithGdnNormOut, "0.16.1"));
  EXPECT_FALSE(contains(kAllRevisions, "abcdef0"));
}

TEST(RevisionNames, AreAllTaken) {
  EXPECT_EQ(revision_names(), (std::vector<std::string>{"0.16.1", "24bad8e6", "d98e8a64", "d48bd6be", "main", "dev"}));
  for (const std::string& name : revision_names()) EXPECT_TRUE(resolve_revision(name)) << name;
}

}  // namespace
}  // namespace rematch::protocol

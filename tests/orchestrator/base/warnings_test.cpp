#include "orchestrator/base/warnings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace rematch::base {
namespace {

const std::string kDocument = std::string(REMATCH_SOURCE_DIR) + "/reports/WARNINGS.md";

TEST(Warnings, HaveDistinctIdentifiersOfLowerCaseWordsAndWholePages) {
  std::set<std::string_view> names;
  for (const WarningPage& page : warning_pages()) {
    EXPECT_TRUE(names.insert(page.name).second) << page.name;
    EXPECT_TRUE(std::all_of(page.name.begin(), page.name.end(), [](char c) { return std::islower(c) != 0 || c == '-'; })) << page.name;
    EXPECT_FALSE(page.title.ends_with('.')) << page.title;
    for (const std::string_view part : {page.meaning, page.weight, page.advice}) EXPECT_TRUE(part.ends_with('.')) << page.name << part;
    EXPECT_EQ(&warning_page(page.id), &page);
    EXPECT_EQ(find_warning(page.name), &page);
  }
  EXPECT_EQ(find_warning("no-such-thing"), nullptr);
}

TEST(Warnings, AreTheDocumentOfTheTree) {
  if (std::getenv("REMATCH_UPDATE_GOLDEN") != nullptr) std::ofstream(kDocument) << warnings_document();
  std::stringstream text;
  text << std::ifstream(kDocument).rdbuf();
  EXPECT_EQ(text.str(), warnings_document()) << "REMATCH_UPDATE_GOLDEN=1 writes it anew";
}

TEST(Warnings, CarryTheirIdentifierInBrackets) { EXPECT_EQ(with_id(WarningId::kDrift, "Step times drift."), "[drift] Step times drift."); }

}  // namespace
}  // namespace rematch::base

#include "orchestrator/report/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "orchestrator/base/verdicts.h"
#include "orchestrator/rules/diagnose.h"
#include "schemas/protocol/outcome.h"

namespace rematch::report {
namespace {

std::set<std::string> names_of(std::span<const Page> pages) {
  std::set<std::string> names;
  for (const Page& page : pages) names.emplace(page.name);
  return names;
}

template <typename Values>
std::set<std::string> spelled(const Values& values) {
  std::set<std::string> names;
  for (const auto value : values) {
    std::string name(to_string(value));
    std::replace(name.begin(), name.end(), ' ', '-');
    names.insert(name);
  }
  return names;
}

TEST(Pages, AreThereOfEveryOutcomeStagePhaseFailureProvenanceAndRole) {
  EXPECT_EQ(names_of(outcome_pages()), spelled(base::kAllOutcomes));
  EXPECT_EQ(names_of(stage_pages()), spelled(protocol::kAllStages));
  EXPECT_EQ(names_of(phase_pages()), spelled(protocol::kAllPhases));
  EXPECT_EQ(names_of(failure_pages()), spelled(protocol::kAllFailureKinds));
  EXPECT_EQ(names_of(provenance_pages()), spelled(protocol::kAllProvenances));
  EXPECT_EQ(names_of(role_pages()), spelled(protocol::kAllRoles));
}

TEST(Pages, AreThereOfEverySymptomAndOfEveryWordOfAVerdict) {
  std::set<std::string> symptoms;
  for (const rules::Symptom& symptom : rules::symptoms()) symptoms.emplace(symptom.id);
  EXPECT_EQ(names_of(symptom_pages()), symptoms);
  for (const auto word : {base::TimeWord::kEqual, base::TimeWord::kFaster, base::TimeWord::kSlower, base::TimeWord::kUndecided})
    EXPECT_TRUE(names_of(word_pages()).contains(std::string(to_string(word))));
  for (const auto word : {base::MemoryWord::kLower, base::MemoryWord::kHigher})
    EXPECT_TRUE(names_of(word_pages()).contains(std::string(to_string(word))));
}

TEST(Pages, AreNeverEmptyAndNeverTwoOfAKindAndName) {
  for (const PageTable& table : page_tables()) {
    EXPECT_EQ(names_of(table.pages).size(), table.pages.size()) << table.kind;
    for (const Page& page : table.pages)
      for (const std::string_view part : {page.meaning, page.decided, page.advice})
        EXPECT_TRUE(part.ends_with('.')) << page.name << ": " << part;
  }
}

TEST(Pages, OfOneNameAreShownTogetherAndBlanksCountAsDashes) {
  const std::string text = pages_named("optimizer_init");
  EXPECT_NE(text.find("optimizer_init (stage)"), std::string::npos);
  EXPECT_NE(text.find("optimizer_init (phase)"), std::string::npos);
  EXPECT_EQ(pages_named("not comparable"), pages_named("not-comparable"));
  EXPECT_FALSE(pages_named("not comparable").empty());
  EXPECT_TRUE(pages_named("no such word").empty());
}

}  // namespace
}  // namespace rematch::report

// The pages of `rematch explain` about what reports say: words of verdicts, symptoms, stages, phases, failures, provenances, what memory is
// for. One table a kind, each in a file of its own. Pure values; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::report {

struct Page {
  std::string_view name;     // as reports spell it; of several words with dashes: "not-comparable"
  std::string_view meaning;  // what it is
  std::string_view decided;  // by which numbers
  std::string_view advice;   // what to do
};

struct PageTable {
  std::string_view kind;     // "stage"
  std::string_view heading;  // "stages, in the order in which a rank goes through them"
  std::span<const Page> pages;
};

std::span<const Page> outcome_pages();
std::span<const Page> word_pages();
std::span<const Page> symptom_pages();
std::span<const Page> stage_pages();
std::span<const Page> phase_pages();
std::span<const Page> failure_pages();
std::span<const Page> provenance_pages();
std::span<const Page> role_pages();

// All of them, in the order of `explain --list`.
const std::vector<PageTable>& page_tables();

// Every page of this name, one after another: a stage and a phase may share it. Blanks in the name count as dashes. Empty: none.
std::string pages_named(std::string_view name);

}  // namespace rematch::report

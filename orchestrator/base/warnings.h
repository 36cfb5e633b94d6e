// Warnings: what a reader must know and what stops nothing. Every one has an identifier, which stays the same between versions, and a
// page (`rematch explain ID`). The table is warnings.def; a row is added there, and nowhere else. Values only; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rematch::base {

enum class WarningId {
#define REMATCH_WARNING(enumerator, name, title, meaning, weight, advice) enumerator,
#include "orchestrator/base/warnings.def"
#undef REMATCH_WARNING
};

struct WarningPage {
  WarningId id;
  std::string_view name;     // the identifier: "uncollected-trials"
  std::string_view title;    // one line
  std::string_view meaning;  // what it means
  std::string_view weight;   // why it matters
  std::string_view advice;   // what to do
};

// In the order of the table.
const std::vector<WarningPage>& warning_pages();
const WarningPage& warning_page(WarningId id);
// nullptr: there is none of that identifier.
const WarningPage* find_warning(std::string_view name);

// The text of a page, several lines.
std::string page_text(const WarningPage& page);
// All pages as one Markdown document.
std::string warnings_document();

// "[drift] Step times drift ...": how a note of a report carries its identifier.
std::string with_id(WarningId id, const std::string& text);

struct Warning {
  WarningId id;
  std::string text;
};

// "warning [drift]: Step times drift ...": how a line for a terminal carries it.
std::string warning_line(std::string_view identifier, const std::string& text);
std::string warning_line(WarningId id, const std::string& text);
std::string warning_line(const Warning& warning);

}  // namespace rematch::base

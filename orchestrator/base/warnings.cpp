#include "orchestrator/base/warnings.h"

#include <algorithm>

namespace rematch::base {

const std::vector<WarningPage>& warning_pages() {
  static const std::vector<WarningPage> pages = {
#define REMATCH_WARNING(enumerator, name, title, meaning, weight, advice) {WarningId::enumerator, name, title, meaning, weight, advice},
#include "orchestrator/base/warnings.def"
#undef REMATCH_WARNING
  };
  return pages;
}

const WarningPage& warning_page(WarningId id) { return warning_pages().at(static_cast<std::size_t>(id)); }

const WarningPage* find_warning(std::string_view name) {
  const auto& pages = warning_pages();
  const auto page = std::find_if(pages.begin(), pages.end(), [&](const WarningPage& each) { return each.name == name; });
  return page == pages.end() ? nullptr : &*page;
}

std::string page_text(const WarningPage& page) {
  return std::string(page.name) + ": " + std::string(page.title) + "\n  means     " + std::string(page.meaning) + "\n  matters   " +
         std::string(page.weight) + "\n  do        " + std::string(page.advice) + "\n";
}

std::string warnings_document() {
  std::string text =
      "# Warnings\n\nA warning stops nothing. Each carries its identifier in brackets; `rematch explain ID` shows its page.\n"
      "Generated from orchestrator/base/warnings.def. Warnings of compatibility rules carry the rule's id (`rematch explain C9`).\n";
  for (const WarningPage& page : warning_pages())
    text += "\n## " + std::string(page.name) + "\n\n**" + std::string(page.title) + ".** " + std::string(page.meaning) + "\n\n" +
            "Why it matters: " + std::string(page.weight) + "\n\nWhat to do: " + std::string(page.advice) + "\n";
  return text;
}

std::string warning_line(std::string_view identifier, const std::string& text) {
  return "warning [" + std::string(identifier) + "]: " + text;
}

std::string warning_line(WarningId id, const std::string& text) { return warning_line(warning_page(id).name, text); }

std::string warning_line(const Warning& warning) { return warning_line(warning.id, warning.text); }

std::string with_id(WarningId id, const std::string& text) { return "[" + std::string(warning_page(id).name) + "] " + text; }

}  // namespace rematch::base

#include "orchestrator/report/pages.h"

#include <algorithm>

namespace rematch::report {

namespace {

std::string with_dashes(std::string_view name) {
  std::string spelled(name);
  std::replace(spelled.begin(), spelled.end(), ' ', '-');
  return spelled;
}

std::string page_text(std::string_view kind, const Page& page) {
  return std::string(page.name) + " (" + std::string(kind) + ")\n  means     " + std::string(page.meaning) + "\n  decided   " +
         std::string(page.decided) + "\n  do        " + std::string(page.advice) + "\n";
}

}  // namespace

const std::vector<PageTable>& page_tables() {
  static const std::vector<PageTable> tables = {
      {"outcome", "outcomes of a run or an arm", outcome_pages()},
      {"word", "words of verdicts", word_pages()},
      {"symptom", "symptoms that diagnose looks for", symptom_pages()},
      {"stage", "stages, in the order in which a rank goes through them", stage_pages()},
      {"phase", "phases, in which peaks occur", phase_pages()},
      {"failure", "kinds of failure", failure_pages()},
      {"provenance", "where a number comes from", provenance_pages()},
      {"role", "what live memory is for", role_pages()},
  };
  return tables;
}

std::string pages_named(std::string_view name) {
  const std::string wanted = with_dashes(name);
  std::string text;
  for (const PageTable& table : page_tables())
    for (const Page& page : table.pages)
      if (page.name == wanted) text += (text.empty() ? "" : "\n") + page_text(table.kind, page);
  return text;
}

}  // namespace rematch::report

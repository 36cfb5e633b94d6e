// A LaTeX document that pdflatex compiles with the packages of every installation, or that another document takes in by \input; each table
// stands between two comment lines, to be pasted elsewhere.
#include <map>

#include "orchestrator/report/cell_text.h"
#include "orchestrator/report/format.h"
#include "orchestrator/report/formats/latex_table.h"
#include "orchestrator/report/formats/latex_text.h"

namespace rematch::report {

namespace {

// A document that takes this one in has begun, and \@nodocument is \relax there.
constexpr const char* kHead = R"(% Compile with pdflatex, or \input it into a document with the packages graphicx and longtable.
% A table to paste stands between "% begin table" and "% end table".
\makeatletter
\ifx\@nodocument\relax\def\rematchend{\endinput}\else\def\rematchend{\end{document}}
\documentclass[a4paper,10pt]{article}
\usepackage[a4paper,landscape,margin=12mm]{geometry}
\usepackage{graphicx}
\usepackage{longtable}
\setlength{\parindent}{0pt}
\setlength{\tabcolsep}{4pt}
\setlength{\emergencystretch}{3em}
\renewcommand{\labelitemi}{$\bullet$}
\begin{document}\fi
\makeatother
)";
constexpr const char* kTail = "\\rematchend\n";

std::string heading(const std::string& title) { return "\n\\subsection*{" + latex_text(title) + "}\n"; }

std::string facts_text(const std::vector<Fact>& facts, ByteUnits units) {
  std::string entries;
  for (const Fact& fact : facts)
    if (!std::holds_alternative<std::monostate>(fact.value))
      entries += "\\item[" + latex_text(fact.title) + "] " + latex_text(display_text(fact.value, units), LineBreaks::kAtSigns) + "\n";
  return entries.empty() ? "" : "\\begin{description}\\raggedright\\setlength{\\itemsep}{0pt}\n" + entries + "\\end{description}\n";
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string entries;
  for (const std::string& note : notes) entries += "\\item " + latex_text(note, LineBreaks::kAtSigns) + "\n";
  return "\\begin{itemize}\\raggedright\n" + entries + "\\end{itemize}\n";
}

// Several tables may have one key: their number tells them apart.
std::string tables_text(const ReportModel& model, ByteUnits units) {
  std::map<std::string, int> num_before;
  std::string text;
  for (const Table& table : model.tables) {
    if (table.place == Place::kDataOnly) continue;
    const std::string name = table.key + " " + std::to_string(++num_before[table.key]);
    text += heading(table.title) + "% begin table " + name + "\n" + latex_table(table, units) + "% end table " + name + "\n";
  }
  return text;
}

std::string render_latex(const ReportModel& model, ByteUnits units) {
  std::string text =
      kHead + ("\n\\section*{" + latex_text(model.title)) + "}\n" + facts_text(model.header, units) + tables_text(model, units);
  if (!model.answer.empty()) text += heading("Answer") + facts_text(model.answer, units);
  if (!model.notes.empty()) text += heading("Notes") + notes_text(model.notes);
  return text + "\n" + kTail;
}

const FormatRegistrar kRegistrar("latex", render_latex, "tex");

}  // namespace

}  // namespace rematch::report

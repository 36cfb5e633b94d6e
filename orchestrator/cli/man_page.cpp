#include "orchestrator/cli/man_page.h"

#include <array>
#include <sstream>

#include "orchestrator/cli/exit_codes.h"

namespace rematch::cli {

namespace {

constexpr std::size_t kLineWidth = 76;
constexpr const char* kDate = "2026-11-30";  // of the page's form; what it says is of the program that prints it

struct Entry {
  const char* name;
  const char* text;
};

constexpr std::array<Entry, 5> kVariables = {{
    {"REMATCH_TRAINER", "The trainer, where --trainer is not given; else rematch-train beside rematch, or on PATH."},
    {"REMATCH_SECTION__KEY", "Lays section.key over the sweep file: REMATCH_TRAINING__SEED=7 is training.seed: 7. --set outranks it."},
    {"NO_COLOR", "Not empty: no colours, unless --color always is given."},
    {"TERM", "dumb: no colours and no line that is rewritten."},
    {"TMPDIR", "Where temporary files go."},
}};

constexpr std::array<Entry, 6> kFiles = {{
    {"rematch-runs/", "The workspace, unless --workspace names another."},
    {"rematch-runs/rematch.db", "The database, made from the trial folders; `rematch ingest --rebuild` makes it anew."},
    {"rematch-runs/studies/NAME-ID/study.json", "The plan of a study."},
    {"rematch-runs/studies/NAME-ID/trials/ID/attempt-N/", "An attempt: trial.json, a record file a rank, launch.json, logs."},
    {"rematch-runs/studies/NAME-ID/submissions/", "What was submitted to Slurm."},
    {"rematch-runs/published/", "Published tables that were imported."},
}};

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\\')
      safe += "\\e";
    else if (letter == '-')
      safe += "\\-";
    else if (letter == '\'')
      safe += "\\(aq";
    else if (letter == '`')
      safe += "\\(ga";
    else
      safe += letter;
  }
  return safe;
}

std::string as_line(const std::string& text) { return (text.starts_with('.') ? "\\&" : "") + text; }

// Text in lines of its own, filled by the formatter.
std::string paragraph(const std::string& text) {
  std::istringstream words(text);
  std::string lines;
  std::string line;
  for (std::string word; words >> word;) {
    const std::string safe = escaped(word);
    if (!line.empty() && line.size() + 1 + safe.size() > kLineWidth) {
      lines += as_line(line) + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + safe;
  }
  return lines + (line.empty() ? "" : as_line(line) + "\n");
}

std::string tagged(const std::string& tag, const std::string& text) { return ".TP\n" + tag + "\n" + paragraph(text.empty() ? "-" : text); }

std::string value_text(const OptionPage& option) {
  if (!option.takes_value) return "";
  std::string words;
  for (const std::string& choice : option.choices) words += (words.empty() ? "" : "|") + choice;
  const std::string value = words.empty() ? "\\fI" + escaped(option.type.empty() ? "TEXT" : option.type) + "\\fR" : escaped(words);
  return option.value_may_be_left_out ? " [" + value + "]" : " " + value;
}

std::string option_tag(const OptionPage& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + ("\\fB" + escaped(name) + "\\fR");
  return names + (option.is_positional ? "" : value_text(option));
}

std::string option_text(const OptionPage& option) {
  std::string text = option.description;
  if (option.is_positional && !option.choices.empty()) {
    text += " One of:";
    for (const std::string& choice : option.choices) text += " " + choice;
  }
  if (!option.default_text.empty()) text += " (" + option.default_text + " if not given)";
  return text;
}

std::string synopsis_of(const VerbPage& verb) {
  std::string text = "\\fBrematch " + escaped(verb.name) + "\\fR";
  bool has_options = false;
  for (const OptionPage& option : verb.options) has_options = has_options || !option.is_positional;
  if (has_options) text += " [\\fIOPTIONS\\fR]";
  for (const OptionPage& option : verb.options)
    if (option.is_positional)
      text += option.is_required ? " \\fI" + escaped(option.names[0]) + "\\fR" : " [\\fI" + escaped(option.names[0]) + "\\fR]";
  return text;
}

std::string verb_text(const VerbPage& verb) {
  std::string text = ".SS " + escaped(verb.name) + "\n" + synopsis_of(verb) + "\n.PP\n" + paragraph(verb.summary + ".");
  for (const OptionPage& option : verb.options)
    if (option.names.back() != "--help") text += tagged(option_tag(option), option_text(option));
  if (!verb.remarks.empty()) text += ".PP\n" + paragraph(verb.remarks);
  if (!verb.exits.empty()) text += ".PP\n" + paragraph("Exit: " + verb.exits);
  if (verb.examples.empty()) return text;
  text += ".PP\nExamples:\n.PP\n.nf\n.RS 4\n";
  for (const std::string& example : verb.examples) text += as_line(escaped(example)) + "\n";
  return text + ".RE\n.fi\n";
}

std::string synopsis(const ProgramPage& program) {
  std::string text = ".SH SYNOPSIS\n.nf\n";
  for (const VerbPage& verb : program.verbs)
    if (!verb.is_hidden) text += synopsis_of(verb) + "\n";
  return text + ".fi\n";
}

template <std::size_t n>
std::string entries(const char* heading, const std::array<Entry, n>& rows) {
  std::string text = std::string(".SH ") + heading + "\n";
  for (const Entry& row : rows) text += tagged("\\fB" + escaped(row.name) + "\\fR", row.text);
  return text;
}

std::string exit_text() {
  std::string text = ".SH EXIT STATUS\n";
  for (const ExitCodeRow& row : exit_codes()) text += tagged("\\fB" + std::to_string(row.code) + "\\fR", std::string(row.meaning) + ".");
  return text + tagged("\\fB128+n\\fR", "Ended by signal n.");
}

}  // namespace

std::string man_page(const ProgramPage& program, const std::string& version) {
  std::string text = std::string(".TH REMATCH 1 ") + kDate + " \"rematch " + version + "\"\n.SH NAME\nrematch \\- " +
                     "settle by experiment which activation\\-recompute setting pays\n" + synopsis(program) + ".SH DESCRIPTION\n" +
                     paragraph(program.summary) + ".SH OPTIONS\n" + paragraph("These stand before or behind any verb.");
  for (const OptionPage& option : program.options) text += tagged(option_tag(option), option_text(option));
  text += ".SH VERBS\n" + paragraph("rematch VERB --help shows the same of one verb.");
  for (const VerbPage& verb : program.verbs)
    if (!verb.is_hidden) text += verb_text(verb);
  return text + entries("ENVIRONMENT", kVariables) + entries("FILES", kFiles) + exit_text() +
         ".SH SEE ALSO\n.BR torchrun (1),\n.BR sbatch (1),\n.BR sqlite3 (1)\n";
}

}  // namespace rematch::cli

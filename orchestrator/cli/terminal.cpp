#include "orchestrator/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace rematch::cli {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

TerminalSize size_of(int descriptor) {
  TerminalSize size;
  winsize window{};
  if (::ioctl(descriptor, TIOCGWINSZ, &window) != 0) return size;
  if (window.ws_col > 0) size.num_columns = window.ws_col;
  if (window.ws_row > 0) size.num_rows = window.ws_row;
  return size;
}

TerminalFacts facts_of(int descriptor) {
  TerminalFacts facts;
  facts.is_terminal = ::isatty(descriptor) == 1;
  facts.term = variable("TERM");
  facts.no_color = !variable("NO_COLOR").empty();
  facts.num_columns = size_of(descriptor).num_columns;
  return facts;
}

}  // namespace

int columns_of_stderr() { return size_of(STDERR_FILENO).num_columns; }
TerminalSize size_of_stdout() { return size_of(STDOUT_FILENO); }
TerminalFacts facts_of_stderr() { return facts_of(STDERR_FILENO); }
TerminalFacts facts_of_stdout() { return facts_of(STDOUT_FILENO); }

Terminal decide_terminal(const TerminalFacts& facts, std::string_view color) {
  const bool capable = facts.is_terminal && facts.term != "dumb";
  Terminal terminal;
  terminal.rewrites_lines = capable;
  terminal.has_color = color == "always" || (color == "auto" && capable && !facts.no_color);
  terminal.num_columns = facts.num_columns;
  return terminal;
}

std::string toned(std::string_view text, Tone tone, const Terminal& terminal) {
  if (!terminal.has_color) return std::string(text);
  const char* code = "";
  switch (tone) {
    case Tone::kGood: code = "\x1b[32m"; break;
    case Tone::kBad: code = "\x1b[31m"; break;
    case Tone::kFaint: code = "\x1b[2m"; break;
  }
  return code + std::string(text) + "\x1b[0m";
}

}  // namespace rematch::cli

#include "orchestrator/spec/diagnostic.h"

#include <utility>

namespace rematch::spec {

// Appended piece by piece: g++ 12 sees an overlap that is none in `":" + std::to_string(...)` at -O3.
std::string to_string(const Place& place) {
  std::string text = place.file;
  if (place.line == 0) return text;
  for (const int number : {place.line, place.column}) {
    text += ':';
    text += std::to_string(number);
  }
  return text;
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = to_string(Place{diagnostic.file, diagnostic.line, diagnostic.column});
  if (!diagnostic.path.empty()) text += ": " + diagnostic.path;
  return text + ": " + diagnostic.message;
}

Diagnostic make_diagnostic(const Place& place, const std::string& path, const std::string& message) {
  return {place.file, place.line, place.column, path, message};
}

Warning::Warning(std::string id, Diagnostic diagnostic) : Diagnostic(std::move(diagnostic)), id_(std::move(id)) {}

Warning::Warning(base::WarningId id, Diagnostic diagnostic) : Warning(std::string(base::warning_page(id).name), std::move(diagnostic)) {}

Warning Warning::of_rule(const std::string& rule_id, Diagnostic diagnostic) { return {rule_id, std::move(diagnostic)}; }

std::string to_string(const Warning& warning) { return "[" + warning.id() + "] " + to_string(static_cast<const Diagnostic&>(warning)); }

std::string warning_line(const Warning& warning) {
  return base::warning_line(warning.id(), to_string(static_cast<const Diagnostic&>(warning)));
}

}  // namespace rematch::spec

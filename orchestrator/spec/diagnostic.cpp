#include "orchestrator/spec/diagnostic.h"

namespace rematch::spec {

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.file;
  if (diagnostic.line > 0) text += ":" + std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column);
  if (!diagnostic.path.empty()) text += ": " + diagnostic.path;
  return text + ": " + diagnostic.message;
}

Diagnostic make_diagnostic(const Place& place, const std::string& path, const std::string& message) {
  return {place.file, place.line, place.column, path, message};
}

}  // namespace rematch::spec

// One thing that is wrong, or doubtful, in a sweep, and where. Values only; spec and plan collect them, the verbs print them.
#pragma once

#include <string>
#include <vector>

namespace rematch::spec {

// Where a value was written. line and column are 1-based; 0 when the place has none (a --set option, an environment variable).
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

// "file:line:column"; without ":line:column" where there is none.
std::string to_string(const Place& place);

struct Diagnostic {
  std::string file;
  int line = 0;
  int column = 0;
  std::string path;     // dotted key
  std::string message;  // what was wanted, what was found, what to do
};

// "file:line:column: path: message"
std::string to_string(const Diagnostic& diagnostic);

Diagnostic make_diagnostic(const Place& place, const std::string& path, const std::string& message);

}  // namespace rematch::spec

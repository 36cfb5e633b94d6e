// One thing that is wrong, or doubtful, in a sweep, and where. Values only; spec and plan collect them, the verbs print them.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/base/warnings.h"

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

// A doubt, which stops nothing. Its identifier is one of base/warnings.h or the id of a compatibility rule: `explain` has its page.
class Warning : public Diagnostic {
 public:
  Warning(base::WarningId id, Diagnostic diagnostic);
  static Warning of_rule(const std::string& rule_id, Diagnostic diagnostic);

  const std::string& id() const { return id_; }

 private:
  Warning(std::string id, Diagnostic diagnostic);

  std::string id_;
};

// "[id] file:line:column: path: message", and as a line for a terminal.
std::string to_string(const Warning& warning);
std::string warning_line(const Warning& warning);

}  // namespace rematch::spec

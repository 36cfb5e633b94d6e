// Reads YAML (JSON is YAML too) into values with places, and lays --set overrides over it. The only code that knows yaml-cpp.
#pragma once

#include <string>
#include <vector>

#include "orchestrator/spec/sweep.h"
#include "orchestrator/spec/value.h"

namespace rematch::spec {

struct Document {
  Value root;                        // a map, empty when the text could not be read
  std::vector<Diagnostic> problems;  // syntax errors, duplicate keys, keys that are no names, more or less than one document
};

Document read_document(const std::string& text, const std::string& file_name);

// Puts each override at its dotted key, replacing what the file says. A key without a value that can be read is a problem.
void apply_overrides(Document& document, const std::vector<Override>& overrides);

}  // namespace rematch::spec

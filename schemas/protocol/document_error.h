// The one exception of this library: a document that does not say what its schema wants.
#pragma once

#include <stdexcept>
#include <string>

namespace rematch::protocol {

// what() names the document, the JSON path, what was wanted and what was found.
class DocumentError : public std::runtime_error {
 public:
  explicit DocumentError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace rematch::protocol

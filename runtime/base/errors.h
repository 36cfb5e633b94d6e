// The exceptions that end a rank for a known reason; main maps each to an exit code of protocol::TrainExit.
// Out of memory is LibTorch's own c10::OutOfMemoryError.
#pragma once

#include <stdexcept>
#include <string>

namespace rematch::base {

// A collective that failed or ran past its deadline: usually a peer that died.
class CommError : public std::runtime_error {
 public:
  explicit CommError(const std::string& message) : std::runtime_error(message) {}
};

// A loss or gradient norm that is not finite.
class NumericsError : public std::runtime_error {
 public:
  explicit NumericsError(const std::string& message) : std::runtime_error(message) {}
};

// A trial that this trainer cannot carry out.
class BadTrial : public std::runtime_error {
 public:
  explicit BadTrial(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace rematch::base

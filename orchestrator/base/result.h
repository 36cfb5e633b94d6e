// Result<T>: a value, or an Error that a sweep must survive. g++ 12 has no std::expected.
// Pure value type; value() on an error is a bug of ours and throws std::logic_error.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace rematch::base {

// message: what was wanted, what was found, where, what to do next.
struct Error {
  std::string message;
};

template <typename T>
class Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  const T& value() const& {
    if (!ok()) throw std::logic_error("Result::value on an error: " + std::get<1>(state_).message);
    return std::get<0>(state_);
  }
  T&& value() && {
    if (!ok()) throw std::logic_error("Result::value on an error: " + std::get<1>(state_).message);
    return std::get<0>(std::move(state_));
  }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace rematch::base

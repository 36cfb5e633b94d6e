// Versions as Python packages compare them (PEP 440): 2.6.0.dev0 < 2.6.0 < 2.6.0.post1 < 2.10.0. Pure values.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rematch::compat {

class Version {
 public:
  // null where the text is no version.
  static std::optional<Version> parse(std::string_view text);
  std::string text() const { return text_; }

  // By PEP 440, local parts ("+cu130") included.
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == std::strong_ordering::equal; }

 private:
  std::string text_;
  std::vector<std::int64_t> release_;             // the epoch first; trailing zeros cut
  std::vector<std::int64_t> suffix_;              // pre, post and development release in the order in which they compare
  std::vector<std::vector<std::int64_t>> local_;  // a number: {1, number}; letters: {0, codes...}
};

}  // namespace rematch::compat

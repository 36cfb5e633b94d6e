#include "orchestrator/compat/version.h"

#include <algorithm>
#include <limits>
#include <regex>

namespace rematch::compat {

namespace {

constexpr std::int64_t kBefore = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kAfter = std::numeric_limits<std::int64_t>::max();

// PEP 440, appendix B, lower case.
const std::regex& pattern() {
  static const std::regex regex(
      R"(v?(?:(\d{1,9})!)?(\d{1,9}(?:\.\d{1,9})*)(?:[-_.]?(alpha|a|beta|b|preview|pre|c|rc)[-_.]?(\d{0,9}))?)"
      R"((?:-(\d{1,9})|([-_.]?(?:post|rev|r)[-_.]?)(\d{0,9}))?([-_.]?dev[-_.]?(\d{0,9}))?(?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?)");
  return regex;
}

std::int64_t number_of(const std::string& digits) { return digits.empty() ? 0 : std::stoll(digits); }

std::vector<std::int64_t> release_of(const std::string& epoch, const std::string& release) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= release.size();) {
    const std::size_t end = std::min(release.find('.', begin), release.size());
    numbers.push_back(number_of(release.substr(begin, end - begin)));
    begin = end + 1;
  }
  while (!numbers.empty() && numbers.back() == 0) numbers.pop_back();
  numbers.insert(numbers.begin(), number_of(epoch));
  return numbers;
}

std::int64_t rank_of_pre(const std::string& letters) {
  if (letters.front() == 'a') return 0;
  return letters.front() == 'b' ? 1 : 2;
}

// A development release of a release comes before its pre-releases; no post-release before any; no development release after any.
std::vector<std::int64_t> suffix_of(const std::smatch& match) {
  const bool has_pre = match[3].matched;
  const bool has_post = match[5].matched || match[6].matched;
  const bool has_dev = match[8].matched;
  std::vector<std::int64_t> suffix = {kAfter, 0};
  if (has_pre) suffix = {rank_of_pre(match[3].str()), number_of(match[4].str())};
  if (!has_pre && !has_post && has_dev) suffix = {kBefore, 0};
  suffix.push_back(has_post ? number_of(match[5].matched ? match[5].str() : match[7].str()) : kBefore);
  suffix.push_back(has_dev ? number_of(match[9].str()) : kAfter);
  return suffix;
}

std::vector<std::vector<std::int64_t>> local_of(const std::string& text) {
  std::vector<std::vector<std::int64_t>> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of("-_.", begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const bool is_number = part.size() <= 9 && part.find_first_not_of("0123456789") == std::string::npos;
    std::vector<std::int64_t> key = {is_number ? 1 : 0};
    if (is_number) {
      key.push_back(number_of(part));
    } else {
      key.insert(key.end(), part.begin(), part.end());
    }
    parts.push_back(std::move(key));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

std::optional<Version> Version::parse(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos || text.size() > 100) return std::nullopt;
  std::string lower(text.substr(first, text.find_last_not_of(" \t") - first + 1));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; });
  std::smatch match;
  if (!std::regex_match(lower, match, pattern())) return std::nullopt;
  Version version;
  version.text_ = std::string(text);
  version.release_ = release_of(match[1].str(), match[2].str());
  version.suffix_ = suffix_of(match);
  version.local_ = local_of(match[10].str());
  return version;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (const auto order = release_ <=> other.release_; order != 0) return order;
  if (const auto order = suffix_ <=> other.suffix_; order != 0) return order;
  return local_ <=> other.local_;
}

}  // namespace rematch::compat

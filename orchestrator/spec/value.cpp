#include "orchestrator/spec/value.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>

namespace rematch::spec {

namespace {

template <typename Number>
std::optional<Number> parse_whole(const Value& value) {
  if (value.shape != Shape::kScalar || value.quoted) return std::nullopt;
  Number number{};
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::int64_t> as_integer(const Value& value) { return parse_whole<std::int64_t>(value); }

std::optional<double> as_number(const Value& value) {
  const auto number = parse_whole<double>(value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<bool> as_boolean(const Value& value) {
  if (value.shape != Shape::kScalar || value.quoted) return std::nullopt;
  if (value.text == "true") return true;
  if (value.text == "false") return false;
  return std::nullopt;
}

std::optional<std::string> as_text(const Value& value) {
  if (value.shape != Shape::kScalar) return std::nullopt;
  return value.text;
}

Value option_list(const Value& value, char separator) {
  if (value.shape != Shape::kScalar || value.place.line > 0) return value;
  Value list;
  list.shape = Shape::kList;
  list.place = value.place;
  std::istringstream words(value.text);
  for (std::string word; std::getline(words, word, separator);) {
    Value& item = list.items.emplace_back(value);
    item.text = word;
  }
  return list;
}

std::string as_yaml(const std::string& text) {
  const char* const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+=:@%-";
  const bool is_plain = !text.empty() && text.find_first_not_of(plain) == std::string::npos && text != "null" && text.back() != ':' &&
                        std::string_view("%@-=:").find(text.front()) == std::string_view::npos;
  if (is_plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' ? std::string("\\n") : c == '\t' ? std::string("\\t") : std::string(1, c);
  }
  return quoted + "\"";
}

std::string describe_found(const Value& value) {
  switch (value.shape) {
    case Shape::kNull: return "null";
    case Shape::kScalar: return (value.quoted ? "the string '" : "'") + value.text + "'";
    case Shape::kList: return "a list";
    case Shape::kMap: return "a map";
  }
  return "nothing";
}

}  // namespace rematch::spec

#include "orchestrator/spec/keys.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <type_traits>

#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/units.h"

namespace rematch::spec {

namespace {

using Texts = SlurmSpec::Texts;
using Lines = std::vector<std::string>;
using Parsed = std::variant<std::monostate, std::int64_t, double, bool, std::string, Texts, Lines>;

template <typename T>
Parsed to_parsed(std::optional<T> value) {
  return value ? Parsed(*std::move(value)) : Parsed();
}

bool is_line(const std::string& text) { return !text.empty() && text.find_first_of("\n\r") == std::string::npos; }

std::optional<std::string> parse_line(const Value& value) {
  auto text = as_text(value);
  return text && is_line(*text) ? text : std::nullopt;
}

std::optional<Texts> parse_options(const Value& value) {
  if (value.shape != Shape::kMap) return std::nullopt;
  Texts texts;
  for (const Member& member : value.members) {
    const bool is_bare = member.value.shape == Shape::kNull || as_boolean(member.value).value_or(false);
    const auto text = is_bare ? std::optional<std::string>("") : parse_line(member.value);
    if (!text || as_boolean(member.value) == false) return std::nullopt;
    texts.emplace_back(member.key, *text);
  }
  return texts;
}

std::optional<Lines> parse_lines(const Value& value) {
  if (value.shape == Shape::kScalar) return Lines{value.text};
  if (value.shape != Shape::kList) return std::nullopt;
  Lines lines;
  for (const Value& item : value.items) {
    const auto text = as_text(item);
    if (!text) return std::nullopt;
    lines.push_back(*text);
  }
  return lines;
}

Parsed parse(Kind kind, const Value& value) {
  const std::string text = as_text(value).value_or("");
  switch (kind) {
    case Kind::kInteger: return to_parsed(as_integer(value));
    case Kind::kNumber: return to_parsed(as_number(value));
    case Kind::kBoolean: return to_parsed(as_boolean(value));
    case Kind::kText: return to_parsed(as_text(value));
    case Kind::kDuration: return to_parsed(parse_duration_ms(text));
    case Kind::kSize: return to_parsed(parse_size_bytes(text));
    case Kind::kPercent: return to_parsed(parse_percent(text));
    case Kind::kFlag: return as_boolean(value) ? to_parsed(as_boolean(value)) : to_parsed(as_text(value));
    case Kind::kLine: return to_parsed(parse_line(value));
    case Kind::kOptions: return to_parsed(parse_options(value));
    case Kind::kLines: return to_parsed(parse_lines(value));
  }
  return {};
}

std::string show_number(Kind kind, double number) {
  switch (kind) {
    case Kind::kDuration: return format_duration_ms(static_cast<std::int64_t>(number));
    case Kind::kSize: return format_size_bytes(static_cast<std::int64_t>(number));
    case Kind::kPercent: return format_number(std::round(number * 1e8) / 1e6) + "%";
    case Kind::kInteger: return std::to_string(static_cast<std::int64_t>(number));
    case Kind::kNumber:
    case Kind::kBoolean:
    case Kind::kText:
    case Kind::kFlag:
    case Kind::kLine:
    case Kind::kOptions:
    case Kind::kLines: break;
  }
  return format_number(number);
}

bool in_range(const Range& range, double number) { return number >= range.minimum && number <= range.maximum; }

bool acceptable(const KeyRow& row, const Parsed& parsed) {
  if (std::holds_alternative<std::monostate>(parsed)) return false;
  if (const auto* integer = std::get_if<std::int64_t>(&parsed)) return in_range(row.range, static_cast<double>(*integer));
  if (const auto* number = std::get_if<double>(&parsed)) return in_range(row.range, *number);
  const auto* text = std::get_if<std::string>(&parsed);
  return text == nullptr || row.allowed.empty() || std::find(row.allowed.begin(), row.allowed.end(), *text) != row.allowed.end();
}

const std::string* find_text(const NamedText& named) {
  const auto found = std::find_if(named.texts->begin(), named.texts->end(), [&](const auto& text) { return text.first == named.name; });
  return found == named.texts->end() ? nullptr : &found->second;
}

bool clear(const NamedText& named) {
  return std::erase_if(*named.texts, [&](const auto& text) { return text.first == named.name; }), true;
}
bool clear(Texts* texts) { return texts->clear(), true; }
bool clear(Lines* lines) { return lines->clear(), true; }
template <typename T>
bool clear(std::optional<T>* target) {
  return target->reset(), true;
}
template <typename T>
bool clear(T* /*has no null*/) {
  return false;
}

// An integer or a boolean among texts is kept as it is written.
template <typename Source>
bool assign_named(const NamedText& named, const Source& value) {
  if constexpr (std::is_same_v<Source, std::string>)
    named.texts->emplace_back(named.name, value);
  else if constexpr (std::is_same_v<Source, bool>)
    named.texts->emplace_back(named.name, value ? "true" : "false");
  else if constexpr (std::is_same_v<Source, std::int64_t>)
    named.texts->emplace_back(named.name, std::to_string(value));
  else
    return false;
  return true;
}

template <typename Target, typename Source>
bool assign_to(Target* target, const Source& value) {
  if constexpr (std::is_same_v<Target, Source> || std::is_same_v<Target, std::optional<Source>>)
    return *target = value, true;
  else
    return false;
}

template <typename Source>
bool assign_to(const NamedText& named, const Source& value) {
  clear(named);
  return assign_named(named, value);
}

void assign(const Slot& slot, const Parsed& parsed) {
  const bool fits = std::visit([](const auto& target, const auto& value) { return assign_to(target, value); }, slot, parsed);
  if (!fits) throw std::logic_error("a row of the key table has a slot of another type");
}

std::string show_slot(Kind /*kind*/, const std::string* text) { return *text; }
std::string show_slot(Kind /*kind*/, const bool* flag) { return *flag ? "true" : "false"; }
std::string show_slot(Kind /*kind*/, const std::optional<std::string>* text) { return text->value_or("null"); }
std::string show_slot(Kind kind, const std::int64_t* number) { return show_number(kind, static_cast<double>(*number)); }
std::string show_slot(Kind kind, const double* number) { return show_number(kind, *number); }
template <typename Number>
std::string show_slot(Kind kind, const std::optional<Number>* number) {
  return *number ? show_number(kind, static_cast<double>(**number)) : "null";
}
std::string show_slot(Kind /*kind*/, const NamedText& named) {
  const std::string* text = find_text(named);
  return text == nullptr ? "null" : as_yaml(*text);
}
std::string show_slot(Kind /*kind*/, const Texts* texts) {
  std::vector<std::string> shown;
  for (const auto& [name, text] : *texts) shown.push_back(name + ": " + (text.empty() ? "true" : as_yaml(text)));
  return "{" + join(shown, ", ") + "}";
}
std::string show_slot(Kind /*kind*/, const Lines* lines) {
  std::vector<std::string> shown;
  for (const std::string& line : *lines) shown.push_back(as_yaml(line));
  return "[" + join(shown, ", ") + "]";
}

}  // namespace

std::string wanted_value(const KeyRow& row) {
  const auto range = [&] {
    return " from " + show_number(row.kind, row.range.minimum) + " to " + show_number(row.kind, row.range.maximum);
  };
  const std::string automatic = row.automatic.empty() ? "" : " or " + row.automatic;
  switch (row.kind) {
    case Kind::kInteger: return "an integer" + range() + automatic;
    case Kind::kNumber: return "a number" + range();
    case Kind::kBoolean: return "true or false";
    case Kind::kText: return row.allowed.empty() ? "a name" : "one of " + join(row.allowed, ", ");
    case Kind::kDuration: return "a number with a unit of time (" + std::string(kDurationUnits) + ")" + range() + ", such as 10min";
    case Kind::kSize: return "a number with a unit of size (" + std::string(kSizeUnits) + ")" + range() + ", such as 2GiB";
    case Kind::kPercent: return "a percentage" + range() + ", such as 2%";
    case Kind::kFlag: return "true, false or one of " + join(row.allowed, ", ");
    case Kind::kLine: return "a text of one line";
    case Kind::kOptions: return "a map of options, without dashes, such as {nice: 100, hold: true}";
    case Kind::kLines: return "a list of lines of shell";
  }
  return "";
}

std::optional<std::string> store_value(const KeyRow& row, const Value& value, SweepSpec& spec) {
  const std::string text = as_text(value).value_or("");
  if (!row.automatic.empty() && text == row.automatic) {
    if (row.is_automatic != nullptr) *row.is_automatic(spec) = true;
    return std::nullopt;
  }
  if (std::find(row.not_yet.begin(), row.not_yet.end(), text) != row.not_yet.end())
    return "'" + text + "' is not available yet; wanted " + wanted_value(row);
  const Slot slot = row.slot(spec);
  const bool is_cleared = value.shape == Shape::kNull && std::visit([](const auto& target) { return clear(target); }, slot);
  if (is_cleared) return std::nullopt;
  const Parsed parsed = parse(row.kind, value);
  if (!acceptable(row, parsed)) return "wanted " + wanted_value(row) + "; found " + describe_found(value);
  assign(slot, parsed);
  return std::nullopt;
}

std::string show_value(const KeyRow& row, SweepSpec& spec) {
  if (row.is_automatic != nullptr && *row.is_automatic(spec)) return row.automatic;
  return std::visit([&](const auto& target) { return show_slot(row.kind, target); }, row.slot(spec));
}

}  // namespace rematch::spec

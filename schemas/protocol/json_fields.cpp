#include "schemas/protocol/json_fields.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/record_file.h"

namespace rematch::protocol {

using nlohmann::json;

namespace {

constexpr std::size_t kMaxShownBytes = 200;

std::string shown(const json& value) { return printable(value.dump(-1, ' ', true, json::error_handler_t::replace)); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Every value that is read has one, so it is made in one piece.
std::string path_below(const Place& place, std::string_view key) {
  std::string path;
  path.reserve(place.path.size() + 1 + key.size());
  return path.append(place.path).append(1, '.').append(key);
}

}  // namespace

void fail_at(const Place& place, const std::string& wanted) {
  throw DocumentError(place.path + ": wanted " + wanted + ", found " + shown(place.json));
}

bool is_null(const Place& place) { return place.json.is_null(); }

std::vector<Place> elements_of(const Place& place) {
  if (!place.json.is_array()) fail_at(place, "a list");
  std::vector<Place> elements;
  for (const json& element : place.json)
    elements.push_back({element, place.path + "[" + std::to_string(elements.size()) + "]", place.unknown_keys});
  return elements;
}

std::vector<std::pair<std::string, Place>> members_of(const Place& place) {
  if (!place.json.is_object()) fail_at(place, "an object");
  std::vector<std::pair<std::string, Place>> members;
  for (const auto& [key, value] : place.json.items()) members.emplace_back(key, Place{value, path_below(place, key), place.unknown_keys});
  return members;
}

void read_value(const Place& place, bool& value) {
  if (!place.json.is_boolean()) fail_at(place, "true or false");
  value = place.json.get<bool>();
}

void read_value(const Place& place, std::int64_t& value) {
  const bool too_big = place.json.is_number_unsigned() && place.json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (!place.json.is_number_integer() || too_big) fail_at(place, "a 64-bit integer");
  value = place.json.get<std::int64_t>();
}

void read_value(const Place& place, double& value) {
  if (!place.json.is_number()) fail_at(place, "a number");
  value = place.json.get<double>();
}

void read_value(const Place& place, std::string& value) {
  if (!place.json.is_string()) fail_at(place, "a string");
  value = place.json.get<std::string>();
}

void read_value(const Place& place, FieldValue& value) { value = field_value_from_json(place.json, place.path); }

void write_null(Slot slot) { slot.json = nullptr; }
Slot make_list(Slot slot) {
  slot.json = json::array();
  return slot;
}
Slot make_object(Slot slot) {
  slot.json = json::object();
  return slot;
}
Slot append_to(Slot list) { return {list.json.emplace_back(nullptr)}; }
Slot member_of(Slot object, const std::string& key) { return {object.json[key]}; }

void write_value(Slot slot, bool value) { slot.json = value; }
void write_value(Slot slot, std::int64_t value) { slot.json = value; }
void write_value(Slot slot, double value) {
  if (std::isfinite(value)) {
    slot.json = value;
  } else {
    slot.json = nullptr;
  }
}
void write_value(Slot slot, std::string_view value) { slot.json = std::string(value); }
void write_value(Slot slot, const FieldValue& value) { slot.json = to_json_value(value); }

FieldReader::FieldReader(const Place& place) : place_(place) {
  if (!place.json.is_object()) fail_at(place, "an object");
}

Place FieldReader::at(const char* key) {
  if (place_.unknown_keys == UnknownKeys::kRefuse) known_.insert(key);
  const auto found = place_.json.find(key);
  if (found == place_.json.end()) {
    throw DocumentError(place_.path + "." + key + ": wanted this key (null where the value may be unknown), found none among: " +
                        (place_.json.empty() ? "nothing" : shown(place_.json)));
  }
  return {*found, path_below(place_, key), place_.unknown_keys};
}

void FieldReader::constant(const char* key, std::string_view wanted) {
  const Place place = at(key);
  if (!place.json.is_string() || place.json.get<std::string>() != wanted) fail_at(place, "\"" + std::string(wanted) + "\"");
}

void FieldReader::refuse_unknown_keys() const {
  if (place_.unknown_keys == UnknownKeys::kTolerate) return;
  for (const auto& [key, place] : members_of(place_))
    if (known_.count(key) == 0) fail_at(place, "no such key but " + joined({known_.begin(), known_.end()}));
}

void check_at_least(const Place& place, double value, std::int64_t minimum) {
  if (value < static_cast<double>(minimum)) fail_at(place, "at least " + std::to_string(minimum));
}

void check_one_of(const Place& place, const std::string& value, const std::vector<std::string>& allowed) {
  for (const std::string& name : allowed)
    if (name == value) return;
  fail_at(place, "one of " + joined(allowed));
}

void check_hex(const Place& place, const std::string& value, std::size_t num_digits) {
  if (value.size() != num_digits || value.find_first_not_of("0123456789abcdef") != std::string::npos)
    fail_at(place, std::to_string(num_digits) + " hex digits in lower case");
}

void check_not_empty(const Place& place, const std::string& value) {
  if (value.empty()) fail_at(place, "some text");
}

std::string printable(std::string_view text) {
  std::string shown_text(text.substr(0, kMaxShownBytes));
  for (char& c : shown_text)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > kMaxShownBytes ? shown_text + "..." : shown_text;
}

void with_json_file(const std::string& path, const std::function<void(const json&)>& use) {
  const std::optional<std::string> text = read_whole_file(path);
  if (!text) throw DocumentError(path + ": wanted a JSON document, found no such file");
  try {
    use(json::parse(*text));
  } catch (const json::exception& error) {
    throw DocumentError(path + ": wanted JSON, found " + std::to_string(text->size()) + " bytes that are not: " + printable(error.what()));
  } catch (const DocumentError& error) {
    throw DocumentError(path + ": " + error.what());
  }
}

}  // namespace rematch::protocol

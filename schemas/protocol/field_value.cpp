#include "schemas/protocol/field_value.h"

#include <nlohmann/json.hpp>

#include "schemas/protocol/json_fields.h"

namespace rematch::protocol {

using nlohmann::json;

namespace {

json json_of(std::monostate) { return nullptr; }
json json_of(bool value) { return value; }
json json_of(std::int64_t value) { return value; }
json json_of(double value) {
  json result;
  write_value(Slot{result}, value);
  return result;
}
json json_of(const std::string& value) { return value; }
json json_of(const std::vector<std::int64_t>& value) { return value; }

template <typename T>
T typed(const Place& place) {
  T value{};
  read_value(place, value);
  return value;
}

}  // namespace

json to_json_value(const FieldValue& value) {
  return std::visit([](const auto& typed_value) { return json_of(typed_value); }, value);
}

FieldValue field_value_from_json(const json& document, const std::string& path) {
  const Place place{document, path};
  if (document.is_null()) return std::monostate{};
  if (document.is_boolean()) return typed<bool>(place);
  if (document.is_number_integer()) return typed<std::int64_t>(place);
  if (document.is_number()) return typed<double>(place);
  if (document.is_string()) return typed<std::string>(place);
  if (document.is_array()) return typed<std::vector<std::int64_t>>(place);
  fail_at(place, "null, true or false, a number, a string or a list of integers");
}

std::string field_type_name(const FieldValue& value) {
  static constexpr const char* kNames[] = {"null", "boolean", "integer", "number", "string", "integers"};
  return kNames[value.index()];
}

}  // namespace rematch::protocol

// One typed value of a model field: the families name their own fields, so a trial carries them as a map.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace rematch::protocol {

// monostate is null ("not set").
using FieldValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<std::int64_t>>;
using FieldMap = std::map<std::string, FieldValue>;

nlohmann::json to_json_value(const FieldValue& value);
// Throws DocumentError when the JSON is an object, or a list with anything but integers in it; `path` names it in the message.
FieldValue field_value_from_json(const nlohmann::json& json, const std::string& path);
// "integer", "number", "boolean", "string", "integers", "null": the names used in describe documents.
std::string field_type_name(const FieldValue& value);

}  // namespace rematch::protocol

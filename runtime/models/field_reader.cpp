#include "runtime/models/field_reader.h"

#include <algorithm>

#include "runtime/base/errors.h"
#include "runtime/base/text.h"

namespace rematch::models {

namespace {

bool has_type(const protocol::FieldValue& value, const protocol::FieldDescription& wanted) {
  const auto found = protocol::field_type_name(value);
  return found == wanted.type || (found == "integer" && wanted.type == "number") || (found == "null" && wanted.nullable);
}

std::optional<double> numeric(const protocol::FieldValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return std::nullopt;
}

void check_field(const protocol::FieldDescription& wanted, const protocol::FieldValue& value) {
  const auto path = "model." + wanted.name;
  if (!has_type(value, wanted)) throw base::BadTrial(path + ": wanted " + wanted.type + ", found " + protocol::field_type_name(value));
  const auto number = numeric(value);
  if (number && wanted.minimum && *number < *wanted.minimum)
    throw base::BadTrial(path + ": wanted at least " + std::to_string(*wanted.minimum) + ", found " + std::to_string(*number));
  const auto* text = std::get_if<std::string>(&value);
  if (text && !wanted.allowed.empty() && std::find(wanted.allowed.begin(), wanted.allowed.end(), *text) == wanted.allowed.end())
    throw base::BadTrial(path + ": wanted one of " + base::joined(wanted.allowed) + ", found '" + *text + "'");
}

}  // namespace

FieldReader::FieldReader(const protocol::FamilyDescription& family, const protocol::FieldMap& fields) : fields_(fields) {
  for (const auto& wanted : family.fields) {
    const auto found = fields.find(wanted.name);
    if (found == fields.end()) throw base::BadTrial("model." + wanted.name + ": missing; wanted " + wanted.type);
    check_field(wanted, found->second);
  }
  for (const auto& [name, value] : fields) {
    const auto known = [&name = name](const protocol::FieldDescription& field) { return field.name == name; };
    if (std::none_of(family.fields.begin(), family.fields.end(), known))
      throw base::BadTrial("model." + name + ": family " + family.name + " has no such field");
  }
}

std::int64_t FieldReader::integer(const std::string& name) const { return std::get<std::int64_t>(fields_.at(name)); }

std::optional<std::int64_t> FieldReader::optional_integer(const std::string& name) const {
  const auto& value = fields_.at(name);
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  return std::get<std::int64_t>(value);
}

double FieldReader::number(const std::string& name) const { return *numeric(fields_.at(name)); }
std::optional<double> FieldReader::optional_number(const std::string& name) const { return numeric(fields_.at(name)); }
bool FieldReader::boolean(const std::string& name) const { return std::get<bool>(fields_.at(name)); }
const std::string& FieldReader::string(const std::string& name) const { return std::get<std::string>(fields_.at(name)); }
const std::vector<std::int64_t>& FieldReader::integers(const std::string& name) const {
  return std::get<std::vector<std::int64_t>>(fields_.at(name));
}

}  // namespace rematch::models

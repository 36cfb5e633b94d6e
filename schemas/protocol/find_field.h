// A model field by name, where it is of the type that is asked for. Pure.
#pragma once

#include <string>

#include "schemas/protocol/field_value.h"

namespace rematch::protocol {

// nullptr: not there, null, or of another type. Lives as long as the map is unchanged.
template <typename T>
const T* find_field(const FieldMap& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace rematch::protocol

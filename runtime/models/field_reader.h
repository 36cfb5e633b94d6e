// Typed access to a model's fields, checked once against the family's description. Throws base::BadTrial naming field, wanted and found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/describe.h"

namespace rematch::models {

class FieldReader {
 public:
  // Refuses missing and unknown fields, wrong types and values under a minimum.
  FieldReader(const protocol::FamilyDescription& family, const protocol::FieldMap& fields);

  bool has(const std::string& name) const { return fields_.count(name) > 0; }  // does the family have it?
  std::int64_t integer(const std::string& name) const;
  std::optional<std::int64_t> optional_integer(const std::string& name) const;
  double number(const std::string& name) const;
  std::optional<double> optional_number(const std::string& name) const;
  bool boolean(const std::string& name) const;
  const std::string& string(const std::string& name) const;
  const std::vector<std::int64_t>& integers(const std::string& name) const;

 private:
  const protocol::FieldMap& fields_;
};

}  // namespace rematch::models

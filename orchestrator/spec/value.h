// A YAML document as plain values that remember where they were written: what document.cpp makes, and all that the section parsers read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orchestrator/spec/diagnostic.h"

namespace rematch::spec {

enum class Shape { kNull, kScalar, kList, kMap };

struct Member;

struct Value {
  Shape shape = Shape::kNull;
  std::string text;             // of a scalar
  bool quoted = false;          // of a scalar: a quoted number is a string
  std::vector<Value> items;     // of a list
  std::vector<Member> members;  // of a map, in the file's order, no key twice
  Place place;
};

struct Member {
  std::string key;
  Place key_place;
  Value value;
};

// null when the value is not a plain scalar of that type: a quoted number is no number, `yes` is no boolean.
std::optional<std::int64_t> as_integer(const Value& value);
std::optional<double> as_number(const Value& value);
std::optional<bool> as_boolean(const Value& value);
std::optional<std::string> as_text(const Value& value);  // quoted or not

// An option of the command line may write a list as "a,b,c" (separator ','): that scalar as a list. Any other value unchanged.
Value option_list(const Value& value, char separator);

// The text as YAML: in quotes where a plain scalar would be read as something else.
std::string as_yaml(const std::string& text);

// "null", "'abc'", "a list", "a map": how a message names what it found.
std::string describe_found(const Value& value);

}  // namespace rematch::spec

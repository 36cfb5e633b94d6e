// How documents become structs and back: one function `visit_fields(visitor, record)` names a record's keys once; FieldReader and
// FieldWriter carry it out. Reading is strict: every key must be there (null where the record says optional) and of its type.
// Failure: DocumentError with the JSON path, what was wanted and what was found. Threads: pure values.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schemas/protocol/field_value.h"

namespace rematch::protocol {

enum class UnknownKeys { kRefuse, kTolerate };

// One JSON value and where it stands in its document.
struct Place {
  const nlohmann::json& json;
  std::string path;
  UnknownKeys unknown_keys = UnknownKeys::kTolerate;
};

[[noreturn]] void fail_at(const Place& place, const std::string& wanted);
bool is_null(const Place& place);
std::vector<Place> elements_of(const Place& place);
std::vector<std::pair<std::string, Place>> members_of(const Place& place);

void read_value(const Place& place, bool& value);
void read_value(const Place& place, std::int64_t& value);
void read_value(const Place& place, double& value);
void read_value(const Place& place, std::string& value);
void read_value(const Place& place, FieldValue& value);

// Where a writer puts one value.
struct Slot {
  nlohmann::json& json;
};

void write_null(Slot slot);
Slot make_list(Slot slot);
Slot make_object(Slot slot);
Slot append_to(Slot list);
Slot member_of(Slot object, const std::string& key);

void write_value(Slot slot, bool value);
void write_value(Slot slot, std::int64_t value);
void write_value(Slot slot, double value);  // null when it is not finite
void write_value(Slot slot, std::string_view value);
void write_value(Slot slot, const FieldValue& value);

class FieldReader {
 public:
  explicit FieldReader(const Place& place);  // refuses anything but an object
  template <typename T, typename... Checks>
  void operator()(const char* key, T& value, const Checks&... checks) {
    const Place place = at(key);
    read_value(place, value);
    (checks(place, value), ...);
  }
  void constant(const char* key, std::string_view wanted);
  void refuse_unknown_keys() const;  // where the place says so

 private:
  Place at(const char* key);
  const Place place_;
  std::set<std::string> known_;
};

class FieldWriter {
 public:
  explicit FieldWriter(Slot slot) : slot_(make_object(slot)) {}
  template <typename T, typename... Checks>
  void operator()(const char* key, const T& value, const Checks&...) {
    write_value(member_of(slot_, key), value);
  }
  void constant(const char* key, std::string_view value) { write_value(member_of(slot_, key), value); }

 private:
  Slot slot_;
};

// The type that a visit_fields is for, const or not.
template <typename T, typename Wanted>
concept Is = std::same_as<std::remove_const_t<T>, Wanted>;

template <typename T>
concept Record = requires(FieldReader& reader, T& record) {
  visit_fields(reader, record);
};

template <Record T>
void read_value(const Place& place, T& record) {
  FieldReader reader(place);
  visit_fields(reader, record);
  reader.refuse_unknown_keys();
}

template <typename T>
void read_value(const Place& place, std::optional<T>& value) {
  value.reset();
  if (!is_null(place)) read_value(place, value.emplace());
}

template <typename T>
void read_value(const Place& place, std::vector<T>& values) {
  values.clear();
  for (const Place& element : elements_of(place)) read_value(element, values.emplace_back());
}

template <typename T>
void read_value(const Place& place, std::map<std::string, T>& values) {
  values.clear();
  for (const auto& [key, member] : members_of(place)) read_value(member, values[key]);
}

template <typename T>
requires std::is_enum_v<T>
void write_value(Slot slot, T value) { write_value(slot, std::string_view(to_string(value))); }

inline void write_value(Slot slot, const std::string& value) { write_value(slot, std::string_view(value)); }

template <typename T>
void write_value(Slot slot, const std::optional<T>& value) {
  if (value) {
    write_value(slot, *value);
  } else {
    write_null(slot);
  }
}

template <typename T>
void write_value(Slot slot, const std::vector<T>& values) {
  const Slot list = make_list(slot);
  for (const T& value : values) write_value(append_to(list), value);
}

template <typename T>
void write_value(Slot slot, const std::map<std::string, T>& values) {
  const Slot object = make_object(slot);
  for (const auto& [key, value] : values) write_value(member_of(object, key), value);
}

template <Record T>
void write_value(Slot slot, const T& record) {
  FieldWriter writer(slot);
  visit_fields(writer, record);
}

// The value of an enum by its name; `all` is every value it may have.
template <typename Values>
auto read_named(const Place& place, const Values& all) {
  std::string name;
  std::string wanted;
  read_value(place, name);
  for (const auto value : all) {
    if (to_string(value) == name) return value;
    wanted += (wanted.empty() ? "" : ", ") + std::string(to_string(value));
  }
  fail_at(place, "one of " + wanted);
}

// Checks for the visitor's call; they look inside an optional and let null pass.
template <typename Test>
struct Check {
  Test test;
  template <typename T>
  void operator()(const Place& place, const T& value) const {
    test(place, value);
  }
  template <typename T>
  void operator()(const Place& place, const std::optional<T>& value) const {
    if (value) test(place, *value);
  }
};
template <typename Test>
Check(Test) -> Check<Test>;

void check_at_least(const Place& place, double value, std::int64_t minimum);
void check_one_of(const Place& place, const std::string& value, const std::vector<std::string>& allowed);
void check_hex(const Place& place, const std::string& value, std::size_t num_digits);
void check_not_empty(const Place& place, const std::string& value);

inline auto at_least(std::int64_t minimum) {
  return Check{[minimum](const Place& place, auto value) { check_at_least(place, static_cast<double>(value), minimum); }};
}
inline auto one_of(std::vector<std::string> allowed) {
  return Check{[allowed = std::move(allowed)](const Place& place, const std::string& value) { check_one_of(place, value, allowed); }};
}
inline auto hex_digits(std::size_t num_digits) {
  return Check{[num_digits](const Place& place, const std::string& value) { check_hex(place, value, num_digits); }};
}
inline auto not_empty() { return Check{check_not_empty}; }

template <typename T>
T read_document(const nlohmann::json& json, const std::string& path, UnknownKeys unknown_keys) {
  T record;
  read_value(Place{json, path, unknown_keys}, record);
  return record;
}

// A template parameter because the type is only declared here.
template <typename T, typename Json = nlohmann::json>
Json json_document(const T& record) {
  Json document;
  write_value(Slot{document}, record);
  return document;
}

// Text from outside for a message: one short line of printable ASCII.
std::string printable(std::string_view text);

// Reads and parses the file and passes it on; any DocumentError names the file.
void with_json_file(const std::string& path, const std::function<void(const nlohmann::json&)>& use);

}  // namespace rematch::protocol

#include "orchestrator/compat/megatron_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/spec/nearest.h"

namespace rematch::compat {

namespace {

using nlohmann::json;

// Each returns what was wanted where the value is of another type.
using Wanted = const char*;

Wanted read(const json& value, Flag& member) {
  if (value.is_null()) return member = false, nullptr;  // None is false
  if (!value.is_boolean()) return "true or false";
  member = value.get<bool>();
  return nullptr;
}

Wanted read(const json& value, Int& member) {
  if (!value.is_number_integer()) return "an integer";
  member = value.get<std::int64_t>();
  return nullptr;
}

Wanted read(const json& value, Number& member) {
  if (!value.is_number()) return "a number";
  member = value.get<double>();
  return nullptr;
}

Wanted read(const json& value, std::string& member) {
  if (!value.is_string()) return "a text";
  member = value.get<std::string>();
  return nullptr;
}

template <typename T>
Wanted read(const json& value, std::optional<T>& member) {
  member.reset();
  return value.is_null() ? nullptr : read(value, member.emplace());
}

template <typename T>
Wanted read(const json& value, std::vector<T>& member) {
  if (!value.is_array()) return "a list";
  for (const json& element : value)
    if (Wanted wanted = read(element, member.emplace_back())) return wanted;
  return nullptr;
}

Wanted read(const json& value, NameList& member) {
  member = {.is_set = !value.is_null(), .is_text = value.is_string(), .names = {}};
  if (value.is_null()) return nullptr;
  if (value.is_string()) return read(value, member.names.emplace_back());
  return read(value, member.names) == nullptr ? nullptr : "a text or a list of texts";
}

Wanted read(const json& value, LayerPattern& member) {
  member = {};
  if (value.is_null()) return nullptr;
  const Wanted wanted = value.is_array() ? read(value, member.of_layer.emplace()) : read(value, member.every.emplace());
  return wanted == nullptr ? nullptr : "an integer or a list of integers";
}

template <typename T>
void read_field(const std::string& name, const json& value, T& member, const T& initial, Configuration& configuration) {
  const Wanted wanted = read(value, member);
  if (wanted == nullptr) return;
  member = initial;
  configuration.mistyped.push_back({name, std::string("wanted ") + wanted + ", found " + value.dump()});
}

std::vector<std::string> names_at(std::string_view core_revision) {
  std::vector<std::string> names;
  for (const MegatronField& field : megatron_fields())
    if (protocol::contains(field.core_revisions, core_revision)) names.emplace_back(field.name);
  return names;
}

// A slip of the pen is told from a field that Megatron has and no rule reads: by one letter.
void read_unknown(const std::string& name, Configuration& configuration) {
  const auto nearest = spec::nearest_name(name, names_at(configuration.core_revision));
  if (nearest && spec::edit_distance(name, *nearest) == 1) {
    configuration.not_there.push_back({name, "did you mean " + *nearest + "?"});
  } else {
    configuration.not_read.push_back(name);
  }
}

bool read_known(const std::string& name, const json& value, Configuration& configuration) {
  static const MegatronConfig defaults;
#define REMATCH_MEGATRON_FIELD(type, field, initial, revisions)                                                        \
  if (name == #field) {                                                                                                \
    if (!protocol::contains(revisions, configuration.core_revision)) {                                                 \
      configuration.not_there.push_back({name, "the class of " + configuration.core_revision + " has no such field"}); \
    } else {                                                                                                           \
      read_field(name, value, configuration.config.field, defaults.field, configuration);                              \
    }                                                                                                                  \
    return true;                                                                                                       \
  }
#include "orchestrator/compat/megatron_fields.def"
#undef REMATCH_MEGATRON_FIELD
  return false;
}

}  // namespace

std::vector<MegatronField> megatron_fields() {
  return {
#define REMATCH_MEGATRON_FIELD(type, name, initial, revisions) {#name, revisions},
#include "orchestrator/compat/megatron_fields.def"
#undef REMATCH_MEGATRON_FIELD
  };
}

void read_fields(const json& fields, Configuration& configuration) {
  for (const auto& [name, value] : fields.items())
    if (!read_known(name, value, configuration)) read_unknown(name, configuration);
}

void set_revision_defaults(Configuration& configuration) {
  if (configuration.core_revision == protocol::kRelease0161) configuration.config.cuda_graph_scope = NameList{true, true, {"full"}};
}

}  // namespace rematch::compat

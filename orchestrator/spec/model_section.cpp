#include "orchestrator/spec/model_section.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orchestrator/spec/nearest.h"
#include "orchestrator/spec/units.h"

namespace rematch::spec {

using protocol::FamilyDescription;
using protocol::FieldDescription;
using protocol::FieldValue;

namespace {

template <typename Named>
std::vector<std::string> names_of(const std::vector<Named>& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

template <typename Named>
const Named* find_named(const std::vector<Named>& rows, const std::string& name) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Named& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

std::string wanted(const FieldDescription& field) {
  std::string text = field.type == "integers" ? "a list of integers" : (field.type == "integer" ? "an " : "a ") + field.type;
  if (!field.allowed.empty()) text = "one of " + join(field.allowed, ", ");
  if (field.minimum) text += " >= " + format_number(*field.minimum);
  return text + (field.nullable ? " or null" : "");
}

std::optional<FieldValue> as_integers(const Value& value) {
  const Value list = option_list(value, ',');
  if (list.shape != Shape::kList) return std::nullopt;
  std::vector<std::int64_t> integers;
  for (const Value& item : list.items) {
    const auto integer = as_integer(item);
    if (!integer) return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

template <typename T>
std::optional<FieldValue> to_field(const std::optional<T>& value) {
  return value ? std::optional<FieldValue>(*value) : std::nullopt;
}

std::optional<FieldValue> as_field(const FieldDescription& field, const Value& value) {
  if (value.shape == Shape::kNull && field.nullable) return FieldValue{};
  if (field.type == "integer") return to_field(as_integer(value));
  if (field.type == "number") return to_field(as_number(value));
  if (field.type == "boolean") return to_field(as_boolean(value));
  if (field.type == "integers") return as_integers(value);
  return to_field(as_text(value));
}

bool in_bounds(const FieldDescription& field, const FieldValue& value) {
  const auto high_enough = [&](double number) { return !field.minimum || number >= *field.minimum; };
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return high_enough(static_cast<double>(*integer));
  if (const auto* number = std::get_if<double>(&value)) return high_enough(*number);
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value))
    return std::all_of(integers->begin(), integers->end(), [&](std::int64_t entry) { return high_enough(static_cast<double>(entry)); });
  const auto* text = std::get_if<std::string>(&value);
  return text == nullptr || field.allowed.empty() || std::find(field.allowed.begin(), field.allowed.end(), *text) != field.allowed.end();
}

// preset and family are found, or refused; the family is null when there is none to go on with.
struct ModelChoice {
  const protocol::PresetDescription* preset = nullptr;
  const FamilyDescription* family = nullptr;
};

template <typename Named>
const Named* choose(ParseState& state, const Member* member, const std::vector<Named>& known, const std::string& what) {
  if (member == nullptr || member->value.shape == Shape::kNull) return nullptr;
  const std::string name = as_text(member->value).value_or("");
  const Named* found = find_named(known, name);
  const std::string path = "model." + member->key;
  if (found == nullptr) state.refuse(member->value.place, path, unknown_name_message(name, what, names_of(known)));
  return found;
}

ModelChoice choose_model(ParseState& state, const Value& section) {
  const Member* preset_key = find_member(section, "preset");
  const Member* family_key = find_member(section, "family");
  ModelChoice choice;
  choice.preset = choose(state, preset_key, state.trainer.presets, "a preset of this trainer");
  choice.family = choose(state, family_key, state.trainer.families, "a model family of this trainer");
  if (preset_key == nullptr && family_key == nullptr) {
    state.refuse(state.place_of("model"), "model",
                 "wanted `preset` (" + join(names_of(state.trainer.presets), ", ") + ") or `family` (" +
                     join(names_of(state.trainer.families), ", ") + "); found neither");
  }
  if (choice.preset == nullptr) return choice;
  if (choice.family != nullptr && choice.family->name != choice.preset->family) {
    state.refuse(family_key->value.place, "model.family",
                 "preset " + choice.preset->name + " is of family " + choice.preset->family + ", not " + choice.family->name +
                     "; leave `family` out");
  }
  choice.family = find_family(state.trainer, choice.preset->family);
  return choice;
}

void lay_field_over(ParseState& state, const ModelChoice& choice, const FieldDescription& field, const Value& value) {
  auto& model = state.spec.common.model;
  const auto parsed = as_field(field, value);
  if (!parsed || !in_bounds(field, *parsed)) {
    state.refuse(
        value.place, "model." + field.name,
        "wanted " + wanted(field) + (field.meaning.empty() ? "" : " (" + field.meaning + ")") + "; found " + describe_found(value));
    return;
  }
  FieldValue& resolved = model.fields[field.name];
  if (choice.preset != nullptr && resolved != *parsed) model.overridden.push_back(field.name);
  resolved = *parsed;
}

void resolve_defaults(ParseState& state, const ModelChoice& choice) {
  auto& model = state.spec.common.model;
  model.family = choice.family->name;
  if (choice.preset != nullptr) model.preset = choice.preset->name;
  for (const auto& field : choice.family->fields) model.fields[field.name] = field.default_value;
  if (choice.preset == nullptr) return;
  for (const auto& [name, value] : choice.preset->fields) model.fields[name] = value;
}

void lay_fields_over(ParseState& state, const ModelChoice& choice, const Value& section) {
  std::vector<std::string> known = names_of(choice.family->fields);
  known.insert(known.end(), {"preset", "family"});
  for (const auto& member : section.members) {
    if (member.key == "preset" || member.key == "family") continue;
    const FieldDescription* field = find_named(choice.family->fields, member.key);
    if (field == nullptr) {
      state.refuse(member.key_place, "model." + member.key,
                   unknown_name_message(member.key, "a field of family " + choice.family->name, known));
    } else {
      lay_field_over(state, choice, *field, member.value);
    }
  }
}

void note_model_origins(ParseState& state, const ModelChoice& choice) {
  const auto& model = state.spec.common.model;
  for (const auto& field : choice.family->fields) {
    const std::string path = "model." + field.name;
    const bool in_preset = choice.preset != nullptr && choice.preset->fields.contains(field.name);
    state.note_origin(path, protocol::to_json_value(model.fields.at(field.name)).dump(),
                      in_preset ? "preset " + choice.preset->name : "default");
    const bool is_set = !std::holds_alternative<std::monostate>(model.fields.at(field.name));
    if (!is_set && !field.nullable && state.sound({path}))
      state.refuse(state.place_of("model"), path, "wanted " + wanted(field) + "; it has no default, so the sweep must set it");
  }
}

// Left out when the count of layers or the kinds have a problem of their own.
void check_layer_kinds(ParseState& state, const FamilyDescription& family) {
  const std::string path = "model." + family.layer_kind_field;
  if (!state.spec.common.model.fields.contains("num_layers") || !state.sound({path, "model.num_layers"})) return;
  const std::string problem = protocol::layer_kinds(family, state.spec.common.model.fields).problem;
  if (!problem.empty()) state.refuse_first({path, "model.num_layers"}, problem);
}

}  // namespace

void read_model(ParseState& state, const Value& section) {
  for (const auto& member : section.members) state.places["model." + member.key] = member.value.place;
  const ModelChoice choice = choose_model(state, section);
  if (choice.preset != nullptr) state.note_origin("model.preset", choice.preset->name, "default");
  if (choice.family == nullptr) return;
  state.note_origin("model.family", choice.family->name, choice.preset != nullptr ? "preset " + choice.preset->name : "default");
  resolve_defaults(state, choice);
  lay_fields_over(state, choice, section);
  auto& overridden = state.spec.common.model.overridden;
  std::sort(overridden.begin(), overridden.end());
  note_model_origins(state, choice);
  check_layer_kinds(state, *choice.family);
}

}  // namespace rematch::spec

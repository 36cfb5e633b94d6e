#include "schemas/protocol/describe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schemas/protocol/document_error.h"
#include "schemas/protocol/field_rules.h"
#include "schemas/protocol/json_fields.h"

namespace rematch::protocol {

using nlohmann::json;

template <typename Visitor, Is<FieldDescription> Field>
void visit_fields(Visitor& field, Field& description) {
  field("name", description.name, not_empty());
  field("type", description.type, one_of({"integer", "number", "boolean", "string", "integers"}));
  field("default_value", description.default_value);
  field("nullable", description.nullable);
  field("minimum", description.minimum);
  field("allowed", description.allowed);
  field("multiple_of", description.multiple_of);
  field("at_most", description.at_most);
  field("meaning", description.meaning);
}

template <typename Visitor, Is<LabelSites> Sites>
void visit_fields(Visitor& field, Sites& sites) {
  field("label", sites.label, not_empty());
  field("per_layer", sites.per_layer);
  field("requires_field", sites.requires_field);
  field("no_site_reason", sites.no_site_reason);
}

template <typename Visitor, Is<PresetDescription> Preset>
void visit_fields(Visitor& field, Preset& preset) {
  field("name", preset.name, not_empty());
  field("family", preset.family, not_empty());
  field("fields", preset.fields);
}

template <typename Visitor, Is<FamilyDescription> Family>
void visit_fields(Visitor& field, Family& family) {
  field("name", family.name, not_empty());
  field("fields", family.fields);
  field("layer_kind_field", family.layer_kind_field);
  field("layer_kinds", family.layer_kinds);
  field("unsplit_kinds", family.unsplit_kinds);
  field("labels", family.labels);
}

template <typename Visitor, Is<Describe> Document>
void visit_fields(Visitor& field, Document& describe) {
  field.constant("schema", kDescribeSchema);
  field("build_id", describe.build_id);
  field("version", describe.version);
  field("libtorch_version", describe.libtorch_version);
  field("devices", describe.devices);
  field("comm_backends", describe.comm_backends);
  field("attention_backends", describe.attention_backends);
  field("optimizer_modes", describe.optimizer_modes);
  field("parallel_axes", describe.parallel_axes);
  field("families", describe.families);
  field("presets", describe.presets);
}

namespace {

// Throws unless the value has the field's type; an integer that stands for a number becomes one.
void settle_type(const FieldDescription& field, FieldValue& value, const std::string& path) {
  if (field.type == "number" && std::holds_alternative<std::int64_t>(value)) value = static_cast<double>(std::get<std::int64_t>(value));
  const std::string found = field_type_name(value);
  if (found == field.type || (found == "null" && field.nullable)) return;
  throw DocumentError(path + ": wanted " + field.type + (field.nullable ? " or null" : "") + ", found " + found);
}

void settle_defaults(FamilyDescription& family) {
  for (FieldDescription& field : family.fields) {
    if (!std::holds_alternative<std::monostate>(field.default_value))
      settle_type(field, field.default_value, "describe.families." + family.name + "." + field.name + ".default_value");
  }
}

const FamilyDescription& family_of(const Describe& describe, const PresetDescription& preset) {
  for (const FamilyDescription& family : describe.families)
    if (family.name == preset.family) return family;
  throw DocumentError("describe.presets." + preset.name + ".family: wanted one of the families, found \"" + preset.family + "\"");
}

void settle_preset(const FamilyDescription& family, PresetDescription& preset) {
  const std::string path = "describe.presets." + preset.name + ".fields.";
  for (auto& [name, value] : preset.fields) {
    const auto is_named = [&name = name](const FieldDescription& field) { return field.name == name; };
    const auto field = std::find_if(family.fields.begin(), family.fields.end(), is_named);
    if (field == family.fields.end())
      throw DocumentError(path + name + ": wanted a field of family " + family.name + ", found no such field");
    settle_type(*field, value, path + name);
  }
}

// What a rule names is an option of the parallel section or an integer field of the family, and so is what it is a rule of.
void settle_rules(const FamilyDescription& family) {
  const auto is_integer = [&](const std::string& name) {
    return std::any_of(family.fields.begin(), family.fields.end(),
                       [&](const FieldDescription& field) { return field.name == name && field.type == "integer"; });
  };
  for (const FieldDescription& field : family.fields) {
    const std::string path = "describe.families." + family.name + "." + field.name + ".";
    const bool has_rule = !field.multiple_of.empty() || field.at_most;
    if (has_rule && field.type != "integer")
      throw DocumentError(path + "type: wanted integer, of which there is a rule, found " + field.type);
    const auto check = [&](const std::string& key, const std::string& name) {
      if (parallel_option(ParallelSpec{}, name) || is_integer(name)) return;
      throw DocumentError(path + key + ": wanted an option of the parallel section or an integer field of the family, found \"" + name +
                          "\"");
    };
    for (const std::string& name : field.multiple_of) check("multiple_of", name);
    if (field.at_most) check("at_most", *field.at_most);
  }
}

// As layer_kinds and the parallel section name them.
void settle_unsplit_kinds(const FamilyDescription& family) {
  const std::string path = "describe.families." + family.name + ".unsplit_kinds";
  for (const auto& [option, kinds] : family.unsplit_kinds) {
    if (!parallel_option(ParallelSpec{}, option))
      throw DocumentError(path + ": wanted a degree of the parallel section, found \"" + option + "\"");
    for (const std::string& kind : kinds)
      if (std::find(family.layer_kinds.begin(), family.layer_kinds.end(), kind) == family.layer_kinds.end())
        throw DocumentError(path + "." + option + ": wanted one of layer_kinds, found \"" + kind + "\"");
  }
}

// The layer kind field, where there is one, is of a type that can name layer_kinds.
void settle_layer_kinds(const FamilyDescription& family) {
  const std::string path = "describe.families." + family.name + ".";
  const auto& kinds = family.layer_kinds;
  if (kinds.empty()) throw DocumentError(path + "layer_kinds: wanted one kind of layer or more, found none");
  if (family.layer_kind_field.empty()) return;
  const auto is_it = [&family](const FieldDescription& field) { return field.name == family.layer_kind_field; };
  const auto field = std::find_if(family.fields.begin(), family.fields.end(), is_it);
  const std::string found = field == family.fields.end() ? "no such field" : field->type;
  if (found != "integers" && found != "string")
    throw DocumentError(path + "layer_kind_field: wanted an integers or a string field, found " + found + " of " + family.layer_kind_field);
  const auto is_long = [](const std::string& kind) { return kind.size() != 1; };
  if (found == "string" && std::any_of(kinds.begin(), kinds.end(), is_long))
    throw DocumentError(path + "layer_kinds: wanted names of one character, which " + family.layer_kind_field + " is made of");
}

}  // namespace

json to_json(const Describe& describe) { return json_document(describe); }

Describe parse_describe(const json& document) {
  Describe describe = read_document<Describe>(document, "describe", UnknownKeys::kTolerate);
  for (FamilyDescription& family : describe.families) {
    settle_defaults(family);
    settle_layer_kinds(family);
    settle_rules(family);
    settle_unsplit_kinds(family);
  }
  for (PresetDescription& preset : describe.presets) settle_preset(family_of(describe, preset), preset);
  return describe;
}

}  // namespace rematch::protocol

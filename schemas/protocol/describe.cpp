#include "schemas/protocol/describe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "schemas/protocol/document_error.h"
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

template <typename T>
const T& field_of(const FamilyDescription& family, const FieldMap& fields, const std::string& name, const char* wanted) {
  const auto found = fields.find(name);
  if (found != fields.end() && std::holds_alternative<T>(found->second)) return std::get<T>(found->second);
  throw DocumentError("model.fields." + name + ": wanted " + wanted + " for family " + family.name + ", found " +
                      (found == fields.end() ? "no such field" : field_type_name(found->second)));
}

std::int64_t regions_in_layers(const FamilyDescription& family, const FieldMap& fields, const LabelSites& sites) {
  const auto num_layers = field_of<std::int64_t>(family, fields, "num_layers", "an integer");
  const auto& kinds = field_of<std::vector<std::int64_t>>(family, fields, family.layer_kind_field, "a list of integers");
  const auto num_kinds = static_cast<std::int64_t>(family.layer_kinds.size());
  std::int64_t num_regions = 0;
  for (std::int64_t layer = 0; layer < num_layers; ++layer) {
    const std::int64_t kind = layer < static_cast<std::int64_t>(kinds.size()) ? kinds[static_cast<std::size_t>(layer)] : -1;
    if (kind < 0 || kind >= num_kinds) {
      throw DocumentError("model.fields." + family.layer_kind_field + "[" + std::to_string(layer) + "]: wanted 0 to " +
                          std::to_string(num_kinds - 1) + " for each of " + std::to_string(num_layers) + " layers, found " +
                          (kind == -1 ? "a list of " + std::to_string(kinds.size()) : std::to_string(kind)));
    }
    const auto row = sites.per_layer.find(family.layer_kinds[static_cast<std::size_t>(kind)]);
    if (row != sites.per_layer.end()) num_regions += row->second;
  }
  return num_regions;
}

}  // namespace

json to_json(const Describe& describe) { return json_document(describe); }

Describe parse_describe(const json& document) {
  Describe describe = read_document<Describe>(document, "describe", UnknownKeys::kTolerate);
  for (FamilyDescription& family : describe.families) settle_defaults(family);
  for (PresetDescription& preset : describe.presets) settle_preset(family_of(describe, preset), preset);
  return describe;
}

std::int64_t count_sites(const FamilyDescription& family, const FieldMap& fields, const std::string& label) {
  const auto is_named = [&label](const LabelSites& sites) { return sites.label == label; };
  const auto sites = std::find_if(family.labels.begin(), family.labels.end(), is_named);
  if (sites == family.labels.end()) return 0;
  if (sites->requires_field && field_of<std::int64_t>(family, fields, *sites->requires_field, "an integer") <= 0) return 0;
  return regions_in_layers(family, fields, *sites);
}

}  // namespace rematch::protocol

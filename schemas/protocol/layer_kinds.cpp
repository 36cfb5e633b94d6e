#include <algorithm>

#include "schemas/protocol/describe.h"
#include "schemas/protocol/document_error.h"

namespace rematch::protocol {

namespace {

struct Question {
  const FamilyDescription& family;
  std::size_t num_layers;

  std::string wanted() const {
    std::string kinds;
    for (std::size_t kind = 0; kind < family.layer_kinds.size(); ++kind) kinds += (kind > 0 ? ", " : "") + family.layer_kinds[kind];
    return " (" + kinds + ") for each of the " + std::to_string(num_layers) + " layers";
  }
  std::string at(std::size_t layer) const { return family.layer_kind_field + "[" + std::to_string(layer) + "]: "; }
};

LayerKinds kinds_of(const Question& question, const std::vector<std::int64_t>& indices) {
  const auto& kinds = question.family.layer_kinds;
  const std::string wanted = "wanted 0 to " + std::to_string(kinds.size() - 1) + question.wanted();
  LayerKinds read;
  for (std::size_t layer = 0; layer < question.num_layers; ++layer) {
    if (layer == indices.size()) return {{}, question.at(layer) + wanted + ", found a list of " + std::to_string(indices.size())};
    const std::int64_t kind = indices[layer];
    if (kind < 0 || kind >= static_cast<std::int64_t>(kinds.size()))
      return {{}, question.at(layer) + wanted + ", found " + std::to_string(kind)};
    read.of_layer.push_back(kinds[static_cast<std::size_t>(kind)]);
  }
  return read;
}

LayerKinds kinds_of(const Question& question, const std::string& pattern) {
  const auto& kinds = question.family.layer_kinds;
  const std::string wanted = "wanted one character" + question.wanted();
  LayerKinds read;
  for (std::size_t layer = 0; layer < question.num_layers; ++layer) {
    if (layer == pattern.size()) return {{}, question.at(layer) + wanted + ", found a string of " + std::to_string(pattern.size())};
    const std::string kind(1, pattern[layer]);
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) return {{}, question.at(layer) + wanted + ", found '" + kind + "'"};
    read.of_layer.push_back(kind);
  }
  return read;
}

std::string type_of(const FieldMap& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "no such field" : field_type_name(found->second);
}

template <typename T>
const T* field_of(const FieldMap& fields, const std::string& name) {
  const auto found = fields.find(name);
  return found == fields.end() ? nullptr : std::get_if<T>(&found->second);
}

bool is_switched_off(const LabelSites& sites, const FieldMap& fields) {
  if (!sites.requires_field) return false;
  const auto* switched = field_of<std::int64_t>(fields, *sites.requires_field);
  const std::string found = type_of(fields, *sites.requires_field);
  if (switched == nullptr && found != "null")
    throw DocumentError("model.fields." + *sites.requires_field + ": wanted an integer, found " + found);
  return switched == nullptr || *switched <= 0;
}

}  // namespace

LayerKinds layer_kinds(const FamilyDescription& family, const FieldMap& fields) {
  const auto* num_layers = field_of<std::int64_t>(fields, "num_layers");
  if (num_layers == nullptr) return {{}, "num_layers: wanted an integer, found " + type_of(fields, "num_layers")};
  const Question question{family, static_cast<std::size_t>(std::max<std::int64_t>(*num_layers, 0))};
  if (family.layer_kind_field.empty()) return {std::vector<std::string>(question.num_layers, family.layer_kinds.front()), ""};
  if (const auto* indices = field_of<std::vector<std::int64_t>>(fields, family.layer_kind_field)) return kinds_of(question, *indices);
  if (const auto* pattern = field_of<std::string>(fields, family.layer_kind_field)) return kinds_of(question, *pattern);
  return {{}, family.layer_kind_field + ": wanted a list of integers or a string, found " + type_of(fields, family.layer_kind_field)};
}

const LabelSites* find_sites(const FamilyDescription& family, const std::string& label) {
  const auto is_named = [&label](const LabelSites& sites) { return sites.label == label; };
  const auto sites = std::find_if(family.labels.begin(), family.labels.end(), is_named);
  return sites == family.labels.end() ? nullptr : &*sites;
}

std::int64_t count_sites(const FamilyDescription& family, const FieldMap& fields, const std::string& label) {
  const LabelSites* sites = find_sites(family, label);
  if (sites == nullptr || is_switched_off(*sites, fields)) return 0;
  const LayerKinds kinds = layer_kinds(family, fields);
  if (!kinds.problem.empty()) throw DocumentError("model.fields." + kinds.problem);
  std::int64_t num_regions = 0;
  for (const std::string& kind : kinds.of_layer) {
    const auto row = sites->per_layer.find(kind);
    if (row != sites->per_layer.end()) num_regions += row->second;
  }
  return num_regions;
}

}  // namespace rematch::protocol

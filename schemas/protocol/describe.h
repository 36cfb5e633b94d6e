// The describe document: what a trainer build can do, printed by `rematch-train --describe`. The controller validates sweeps against it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "schemas/protocol/field_value.h"

namespace rematch::protocol {

inline constexpr const char* kDescribeSchema = "rematch/describe/1";

struct FieldDescription {
  std::string name;          // Megatron's name
  std::string type;          // integer | number | boolean | string | integers
  FieldValue default_value;  // monostate: required, unless nullable
  bool nullable = false;
  std::optional<double> minimum;
  std::vector<std::string> allowed;  // of a string field; empty: any
  std::string meaning;               // one line, with unit
  // Of an integer field: a multiple of the product of these, and no more than this: options of the parallel section or integer fields of
  // the family. See field_rules.h.
  std::vector<std::string> multiple_of;
  std::optional<std::string> at_most;
};

// Where a label has regions in a family: regions per layer of each kind.
struct LabelSites {
  std::string label;
  std::map<std::string, std::int64_t> per_layer;  // layer kind -> regions in one such layer
  std::optional<std::string> requires_field;      // no region unless this integer field is > 0; null counts as 0
  std::string no_site_reason;                     // why a model may have none: "no dense layer", ...
};

struct PresetDescription {
  std::string name;
  std::string family;
  FieldMap fields;
};

struct FamilyDescription {
  std::string name;
  std::vector<FieldDescription> fields;
  // Which field says of what kind each layer is: an `integers` field with one index of layer_kinds a layer, or a `string` field with one
  // name of layer_kinds, of one character each, a layer. Empty: every layer is of kind layer_kinds[0].
  std::string layer_kind_field;
  std::vector<std::string> layer_kinds;                           // {"dense", "moe"}; {"M", "E", "*", "-"}
  std::map<std::string, std::vector<std::string>> unsplit_kinds;  // option of the parallel section -> layer kinds that it cannot split
  std::vector<LabelSites> labels;
};

struct Describe {
  std::string build_id;
  std::string version;
  std::string libtorch_version;
  std::vector<std::string> devices;             // cpu, cuda, meta
  std::vector<std::string> comm_backends;       // gloo, nccl, fake, single
  std::vector<std::string> attention_backends;  // fused, unfused
  std::vector<std::string> optimizer_modes;  // values that options of optimizer and features may take, "store_param_remainders=true", ...
  std::vector<std::string> parallel_axes;    // axes that may be > 1: "expert_model_parallel_size", ...
  std::vector<FamilyDescription> families;
  std::vector<PresetDescription> presets;
};

nlohmann::json to_json(const Describe& describe);
Describe parse_describe(const nlohmann::json& document);  // throws DocumentError

// The kind of each of the num_layers layers of a model with these resolved fields; a longer list or string is cut. Otherwise `problem` says
// what was wanted of the layer kind field and what was found.
struct LayerKinds {
  std::vector<std::string> of_layer;
  std::string problem;  // empty: none
};
LayerKinds layer_kinds(const FamilyDescription& family, const FieldMap& fields);

// Regions that `label` has in a model of this family with these resolved fields; 0 when the label has no row. Throws DocumentError where
// layer_kinds has a problem.
std::int64_t count_sites(const FamilyDescription& family, const FieldMap& fields, const std::string& label);

// null when the family has no row for the label.
const LabelSites* find_sites(const FamilyDescription& family, const std::string& label);

}  // namespace rematch::protocol

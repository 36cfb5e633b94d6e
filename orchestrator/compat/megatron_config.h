// A Megatron Core configuration as a plain value: the fields that rules read, by Megatron's names and with Megatron's defaults, and what
// surrounds it (revision, versions, training loop). Made from raw JSON by check-config and from a trial by plan. Pure values.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/compat/version.h"
#include "schemas/protocol/core_revisions.h"

namespace rematch::compat {

using Flag = bool;
using Int = std::int64_t;
using OptionalInt = std::optional<std::int64_t>;
using Number = double;
using OptionalNumber = std::optional<double>;
using Text = std::optional<std::string>;

// Null, one text or a list: cuda_graph_modules "attn,mlp" is not ["attn,mlp"].
struct NameList {
  bool is_set = false;
  bool is_text = false;  // names then holds that one text
  std::vector<std::string> names;
};

// An integer N (every Nth layer), or one number a layer; null: neither.
struct LayerPattern {
  OptionalInt every;
  std::optional<std::vector<std::int64_t>> of_layer;
};

inline constexpr std::array kAfter0161 = {protocol::kSnapshot, protocol::kMain, protocol::kDev};
inline constexpr std::array kOnly0161 = {protocol::kRelease0161};
inline constexpr std::array kOnlySnapshot = {protocol::kSnapshot};
inline constexpr std::array kUpToSnapshot = {protocol::kRelease0161, protocol::kSnapshot};
using protocol::kAllRevisions;
using protocol::kDevOnly;
using protocol::kMainAndDev;

struct MegatronConfig {
#define REMATCH_MEGATRON_FIELD(type, name, initial, revisions) type name = initial;
#include "orchestrator/compat/megatron_fields.def"
#undef REMATCH_MEGATRON_FIELD
};

// What no field of the class says and some rules hang on.
struct Surroundings {
  bool recompute_activations = false;     // the command line's flag of that name
  bool backward_by_grad = false;          // the training loop calls torch.autograd.grad() in place of backward()
  bool cross_attention = false;           // the model has cross-attention layers
  bool stage_input_requires_grad = true;  // false: frozen embedding, or a first stage under PEFT
};

struct FieldProblem {
  std::string field;
  std::string message;  // what was wanted, what was found
};

struct Configuration {
  MegatronConfig config;
  Surroundings surroundings;
  std::string core_revision;  // a spelling of protocol::core_revisions.h
  std::optional<Version> te_version;
  std::optional<Version> torch_version;
  std::vector<FieldProblem> mistyped;   // fields of another type; config holds their defaults
  std::vector<FieldProblem> not_there;  // fields that this revision's class does not have
  std::vector<std::string> not_read;    // fields that no rule reads
};

struct MegatronField {
  std::string_view name;
  protocol::CoreRevisions core_revisions;
};
std::vector<MegatronField> megatron_fields();

// Lays the members of a JSON object over `configuration`, whose core_revision must be set.
void read_fields(const nlohmann::json& fields, Configuration& configuration);
// Of cuda_graph_scope, whose default differs by revision.
void set_revision_defaults(Configuration& configuration);

}  // namespace rematch::compat

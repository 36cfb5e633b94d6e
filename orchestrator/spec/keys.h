// The table of the sweep file's fixed keys: name, type, range, allowed words and where the value goes. A new knob is one row here.
// `model` (fields come from the trainer) and `recompute` (nested) have parsers of their own. Internal to spec.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "orchestrator/spec/sweep.h"
#include "orchestrator/spec/value.h"

namespace rematch::spec {

enum class Kind {
  kInteger,
  kNumber,
  kBoolean,
  kText,
  kDuration,
  kSize,
  kPercent,
  kFlag,     // true, false or one of the allowed words
  kLine,     // any text of one line that is not empty, handed on as it stands: 2:00:00, 60
  kOptions,  // a map of option names to such texts; true or null: an option without a value
  kLines,    // a list of texts; a text stands for a list of one
};
enum class Need { kRequired, kOptional };

// The value of one name among texts, where a key that is not written has none.
struct NamedText {
  SlurmSpec::Texts* texts;
  std::string name;
};

using Slot = std::variant<std::int64_t*, std::optional<std::int64_t>*, double*, std::optional<double>*, bool*, std::string*,
                          std::optional<std::string>*, NamedText, SlurmSpec::Texts*, std::vector<std::string>*>;

struct Range {
  double minimum = 0;
  double maximum = 1e9;
};

// The default of a key that follows another key's value.
struct DerivedDefault {
  void (*set)(SweepSpec&) = nullptr;  // null: the default is a constant
  std::string rule = {};              // what it is, for `plan --origin`
};

struct KeyRow {
  std::string key;  // dotted
  Kind kind;
  Need need;
  std::function<Slot(SweepSpec&)> slot;
  Range range = {};                             // of numbers, in the unit of the slot
  std::vector<std::string> allowed = {};        // of text; empty: any
  std::vector<std::string> not_yet = {};        // words that will have a meaning; refused as such
  std::string automatic = {};                   // the word that keeps the default
  DerivedDefault derived = {};                  // null in the file keeps it too
  bool* (*is_automatic)(SweepSpec&) = nullptr;  // where the word `automatic` is remembered; null: nowhere
  bool of_slurm = false;                        // has a meaning under launch.kind slurm only
};

std::span<const KeyRow> key_rows();

// Those of `launch` that only a launch under Slurm reads.
std::vector<KeyRow> slurm_key_rows();

// "an integer from 1 to 1000": type, range and allowed words of a key, for messages.
std::string wanted_value(const KeyRow& row);

// Stores the value, or says what is wrong with it.
std::optional<std::string> store_value(const KeyRow& row, const Value& value, SweepSpec& spec);

// The resolved value as it would be written in the file.
std::string show_value(const KeyRow& row, SweepSpec& spec);

}  // namespace rematch::spec

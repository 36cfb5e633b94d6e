// The compatibility rules, one table: which settings Megatron Core refuses, ignores or warns about, by revision, and what this program
// refuses besides. Called by plan. Pure. Ids G*, L*, M*, O* and X* are those of the rule table
// that the documentation describes; R* are ours.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/protocol/core_revisions.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/trial.h"

namespace rematch::compat {

enum class Effect {
  kRefuse,  // the arm is invalid
  kIgnore,  // Megatron says nothing and does nothing: we warn
  kWarn,
};

enum class Origin {
  kMegatron,  // raised or warned by Megatron Core or its command line
  kOurs,      // Megatron accepts it; we do not
};

// What a condition may look at. The trial's recompute section is the arm in question; the family is that of its model.
struct Setting {
  const protocol::Trial& trial;
  const protocol::FamilyDescription& family;
  const protocol::Describe& trainer;
};

struct Rule {
  std::string_view id;
  Origin origin;
  Effect effect;
  bool (*holds)(const Setting&);
  std::string_view reason;  // what is wrong and what to do
  protocol::CoreRevisions core_revisions;
  std::string (*detail)(const Setting&) = nullptr;  // of this setting: which labels, and why
};

struct Violation {
  std::string id;
  Effect effect;
  std::string reason;
  std::string detail;  // empty: the rule has none
};

// "L8: a label that has no site in this model: ... (mlp: the model has no dense layer)"
std::string to_string(const Violation& violation);

std::span<const Rule> rules();

// Every rule of the trial's core revision that this setting meets, in the table's order.
std::vector<Violation> violations(const Setting& setting);

}  // namespace rematch::compat

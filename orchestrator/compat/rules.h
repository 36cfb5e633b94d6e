// The compatibility rules of Megatron Core, one table: which settings it refuses, ignores or warns about, by revision. Called by plan.
// Pure. Ids are those of the rule table that the documentation describes: G*, L*, O*.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "schemas/protocol/describe.h"
#include "schemas/protocol/trial.h"

namespace rematch::compat {

enum class Effect {
  kRefuse,  // Megatron raises: the arm is invalid
  kIgnore,  // Megatron says nothing and does nothing: we warn
  kWarn,
};

// What a condition may look at. The trial's recompute section is the arm in question.
struct Setting {
  const protocol::Trial& trial;
  const protocol::FamilyDescription& family;
};

struct Rule {
  std::string_view id;
  Effect effect;
  bool (*holds)(const Setting&);
  std::string_view reason;  // what is wrong and what to do
  std::vector<std::string_view> core_revisions;
};

struct Violation {
  std::string id;
  Effect effect;
  std::string reason;
};

std::span<const Rule> rules();

// Every rule of the trial's core revision that this setting meets, in the table's order.
std::vector<Violation> violations(const protocol::Trial& trial, const protocol::FamilyDescription& family);

}  // namespace rematch::compat

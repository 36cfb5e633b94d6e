// The compatibility rules, one table: what Megatron Core refuses, ignores, rewrites or warns about, by revision, and what this program
// refuses besides. Rows stand in files by topic. Called by plan (of a trial) and check-config (of a raw configuration). Pure. Most ids are
// those of the rule table that the documentation describes; R* are ours.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestrator/compat/megatron_config.h"
#include "orchestrator/compat/resolved.h"
#include "schemas/protocol/describe.h"
#include "schemas/protocol/trial.h"

namespace rematch::compat {

enum class Effect {
  kRefuse,
  kIgnore,   // nothing is said and nothing is done: we say so
  kRewrite,  // another setting takes its place
  kWarn,
};

enum class Origin {
  kClass,        // Megatron Core's configuration class
  kCommandLine,  // Megatron-LM's argument layer alone
  kRunTime,      // Megatron Core at construction, in forward or in backward
  kBridge,       // Megatron Bridge, before the class sees it
  kOurs,         // Megatron accepts it; we do not, or have something to say
};

// A trial before its sweep runs: its recompute section is the arm in question; the family is that of its model.
struct Setting {
  const protocol::Trial& trial;
  const protocol::FamilyDescription& family;
  const protocol::Describe& trainer;
};

// What a condition may look at.
struct Subject {
  const Configuration& in;
  const MegatronConfig& c;  // in.config
  const Resolved& r;
  const Setting* setting = nullptr;  // null: of a raw configuration
  bool is_before_main() const { return protocol::contains(kUpToSnapshot, in.core_revision); }
  bool is_0161() const { return in.core_revision == protocol::kRelease0161; }
};

struct Rule {
  std::string_view id;
  std::string_view part;  // of a rule with several rows; may be empty
  Origin origin;
  Effect effect;
  std::string_view fields;  // that it reads: Megatron's names, a comma and a space between
  bool (*holds)(const Subject&);
  std::string_view reason;  // what is wrong and what to do
  protocol::CoreRevisions core_revisions;
  std::string (*detail)(const Subject&) = nullptr;  // of this setting: which labels, and why
  bool class_warns = false;                         // the class warns of it besides
};

using Rules = std::vector<Rule>;
// By topic; each a file. Joined by rules().
Rules granularity_rules();
Rules label_rules();
Rules quantization_rules();
Rules offload_rules();
Rules graph_rules();
Rules graph_recompute_rules();
Rules overlap_rules();
Rules pipeline_rules();
Rules parallel_rules();
Rules expert_rules();
Rules field_rules();
Rules our_rules();

struct Violation {
  std::string id;
  std::string part;
  Origin origin;
  Effect effect;
  bool class_warns;
  std::string reason;
  std::string detail;  // empty: the rule has none
};

// "C12 mlp_in_moe_model"; an id alone where the rule has one row.
std::string key_of(const Rule& rule);
std::string key_of(const Violation& violation);
// "L8: a label that has no site in this model: ... (mlp: the model has no dense layer)"
std::string to_string(const Violation& violation);
std::string_view to_string(Effect effect);
std::string_view to_string(Origin origin);

// Grouped by topic.
std::span<const Rule> rules();

// Every rule of the configuration's core revision that it meets, in the table's order. `left_out`: a row that is not asked.
std::vector<Violation> violations(const Configuration& configuration, const Rule* left_out = nullptr);
std::vector<Violation> violations(const Setting& setting);

// Who decides that a configuration is refused.
enum class Policy {
  kMegatron,  // the configuration class alone
  kOurs,      // every row that refuses
};
bool refuses(const Violation& violation, Policy policy);

}  // namespace rematch::compat

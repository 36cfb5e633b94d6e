#include "orchestrator/compat/rules.h"

#include <stdexcept>

#include "orchestrator/compat/of_trial.h"

namespace rematch::compat {

namespace {

Rules joined_tables() {
  Rules all;
  for (const auto table : {granularity_rules, label_rules, quantization_rules, offload_rules, graph_rules, graph_recompute_rules,
                           overlap_rules, pipeline_rules, parallel_rules, expert_rules, field_rules, our_rules})
    for (const Rule& rule : table()) all.push_back(rule);
  return all;
}

const Rules& table() {
  static const Rules rows = joined_tables();
  return rows;
}

std::string key(std::string_view id, std::string_view part) { return std::string(id) + (part.empty() ? "" : " " + std::string(part)); }

std::vector<Violation> violations_of(const Subject& subject, const Rule* left_out) {
  std::vector<Violation> found;
  for (const Rule& rule : table()) {
    if (&rule == left_out || !protocol::contains(rule.core_revisions, subject.in.core_revision) || !rule.holds(subject)) continue;
    const std::string reason = (rule.origin == Origin::kOurs ? "ours: " : "") + std::string(rule.reason);
    found.push_back({std::string(rule.id), std::string(rule.part), rule.origin, rule.effect, rule.class_warns, reason,
                     rule.detail == nullptr ? "" : rule.detail(subject)});
  }
  return found;
}

}  // namespace

std::string key_of(const Rule& rule) { return key(rule.id, rule.part); }
std::string key_of(const Violation& violation) { return key(violation.id, violation.part); }

std::string to_string(const Violation& violation) {
  return key_of(violation) + ": " + violation.reason + (violation.detail.empty() ? "" : " (" + violation.detail + ")");
}

std::string_view to_string(Effect effect) {
  switch (effect) {
    case Effect::kRefuse: return "refuse";
    case Effect::kIgnore: return "ignore";
    case Effect::kRewrite: return "rewrite";
    case Effect::kWarn: return "warn";
  }
  throw std::logic_error("an effect without a name");
}

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::kClass: return "class";
    case Origin::kCommandLine: return "command_line";
    case Origin::kRunTime: return "run_time";
    case Origin::kBridge: return "bridge";
    case Origin::kOurs: return "ours";
  }
  throw std::logic_error("an origin without a name");
}

std::span<const Rule> rules() { return table(); }

std::vector<Violation> violations(const Configuration& configuration, const Rule* left_out) {
  const Resolved resolved = resolve(configuration);
  return violations_of({configuration, configuration.config, resolved}, left_out);
}

std::vector<Violation> violations(const Setting& setting) {
  const Configuration configuration = configuration_of(setting);
  const Resolved resolved = resolve(configuration);
  return violations_of({configuration, configuration.config, resolved, &setting}, nullptr);
}

bool refuses(const Violation& violation, Policy policy) {
  return violation.effect == Effect::kRefuse && (policy == Policy::kOurs || violation.origin == Origin::kClass);
}

}  // namespace rematch::compat

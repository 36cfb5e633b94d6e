// What a compatibility rule refuses: recompute of what is overlapped, and full recompute inside of graphs.
#include <algorithm>
#include <cctype>
#include <initializer_list>

#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/next_command.h"

namespace rematch::rules {

namespace {

// A row of the rule table may have a part of its own behind the id: "M1.dropout".
bool is_rule(const std::string& id, std::string_view wanted) {
  return id.starts_with(wanted) && (id.size() == wanted.size() || std::isalnum(static_cast<unsigned char>(id[wanted.size()])) == 0);
}

std::string refused_by(const base::ArmRow& arm, std::initializer_list<std::string_view> rules) {
  if (arm.status != base::ArmStatus::kInvalid) return "";
  std::string ids;
  for (const std::string& id : arm.rule_ids)
    if (std::any_of(rules.begin(), rules.end(), [&](std::string_view rule) { return is_rule(id, rule); }))
      ids += (ids.empty() ? "" : ", ") + id;
  return ids;
}

// A row of a rule is explained with its rule.
std::string first_id(const std::string& ids) { return ids.substr(0, ids.find_first_of(",.")); }

std::string rules_text(const std::string& ids, const base::ArmRow& arm) {
  return "Refused before launch by rule " + ids + ", so nothing was measured: " + arm.reason + ".";
}

}  // namespace

std::vector<base::Diagnosis> find_overlap_conflict(const Evidence& evidence, std::string_view symptom) {
  return find_in_arms(evidence, symptom, [&](const base::ArmRow& row, const base::ArmVerdict&) -> std::optional<Found> {
    const std::string ids = refused_by(row, {"L6", "M1", "M2", "M3"});
    if (ids.empty()) return std::nullopt;
    return Found{
        rules_text(ids, row),
        "Keep the overlap and measure a boundary inside of it (moe_act, layernorm), or switch the overlap off and measure the whole "
        "study again.",
        "", explain_command(first_id(ids))};
  });
}

std::vector<base::Diagnosis> find_full_recompute_with_graphs(const Evidence& evidence, std::string_view symptom) {
  return find_in_arms(evidence, symptom, [&](const base::ArmRow& row, const base::ArmVerdict&) -> std::optional<Found> {
    const std::string ids = refused_by(row, {"C1"});
    if (ids.empty()) return std::nullopt;
    return Found{rules_text(ids, row), "Set cuda_graph_impl: full_iteration, or switch CUDA graphs off (none).", "",
                 run_command(evidence.study.plan, {"features.cuda_graph_impl=none"})};
  });
}

}  // namespace rematch::rules

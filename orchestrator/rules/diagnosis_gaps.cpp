#include "orchestrator/rules/diagnosis_gaps.h"

#include <algorithm>

#include "orchestrator/rules/attribution.h"
#include "orchestrator/rules/conclusion.h"
#include "schemas/protocol/recompute_arm.h"

namespace rematch::rules {

namespace {

constexpr const char* kNoAttribution = "what its peak is made of was not measured";

std::string no_run(const Evidence& evidence, const base::ArmRow& row) {
  if (row.status != base::ArmStatus::kPlanned || telling_attempt(evidence, row.arm) != nullptr) return "";
  return "no run of it has come to its end";
}

std::string no_attribution(const Evidence& evidence, const std::string& arm) {
  const base::AttemptRows* attempt = telling_attempt(evidence, arm);
  return attempt == nullptr || attributed_peak(*attempt) ? "" : kNoAttribution;
}

const base::ArmVerdict* control_of(const Evidence& evidence, const std::string& group_id) {
  const auto is_it = [&](const base::ArmVerdict& arm) { return arm.is_control && arm.group_id == group_id; };
  const auto found = std::find_if(evidence.verdict.arms.begin(), evidence.verdict.arms.end(), is_it);
  return found == evidence.verdict.arms.end() ? nullptr : &*found;
}

}  // namespace

std::string no_gap(const Evidence&, const base::ArmRow&, const base::ArmVerdict&) { return ""; }

std::string gap_of_runs(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict&) { return no_run(evidence, row); }

std::string gap_of_optimizer_bound(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm) {
  if (!ran_out_of_memory(arm) || arm.failure->stage != protocol::Stage::kOptimizerInit) return no_run(evidence, row);
  return no_attribution(evidence, arm.arm);
}

std::string gap_of_core_attn(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm) {
  if (row.recompute.recompute_modules != std::vector<std::string>{"core_attn"}) return "";
  if (std::string missing = no_run(evidence, row); !missing.empty()) return missing;
  const bool has_peaks = arm.effect || (arm.failed_comparison && arm.failed_comparison->step);
  return has_peaks || row.status != base::ArmStatus::kPlanned ? "" : "there is no peak of the same steps to set its own against";
}

std::string gap_of_mla(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm) {
  if (!selects(row.recompute, "core_attn") || selects(row.recompute, "mla_up_proj")) return "";
  return ran_out_of_memory(arm) ? no_attribution(evidence, arm.arm) : no_run(evidence, row);
}

std::string gap_of_moe(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm) {
  if (!arm.is_control || meets_budget(evidence.study.plan, arm)) return "";
  const std::string missing = no_run(evidence, row);
  return missing.empty() ? no_attribution(evidence, arm.arm) : missing;
}

std::string gap_of_labels(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict&) {
  const base::AttemptRows* attempt = telling_attempt(evidence, row.arm);
  if (attempt == nullptr || protocol::counted_keys(row.recompute).empty()) return row.is_control ? "" : no_run(evidence, row);
  const auto silent = std::find_if(attempt->ranks.begin(), attempt->ranks.end(), [](const auto& rank) { return !rank.model; });
  return silent == attempt->ranks.end() ? "" : "rank " + std::to_string(silent->rank) + " has not said which regions it wrapped";
}

std::string gap_of_moved(const Evidence& evidence, const base::ArmRow& row, const base::ArmVerdict& arm) {
  if (arm.is_control) return "";
  if (std::string missing = no_run(evidence, row); !missing.empty()) return missing;
  const base::ArmVerdict* control = control_of(evidence, arm.group_id);
  return ran_out_of_memory(arm) && (control == nullptr || control->num_judged == 0) ? "no run of its control has come to its end" : "";
}

}  // namespace rematch::rules

// A mixture of experts that stays too large, by its own activations.
#include <array>

#include "orchestrator/base/number_text.h"
#include "orchestrator/rules/attribution.h"
#include "orchestrator/rules/conclusion.h"
#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/next_command.h"

namespace rematch::rules {

namespace {

// In the order in which they are to be tried.
constexpr std::array<const char*, 3> kBoundaries = {"moe_act", "layernorm", "moe"};

bool is_too_large(const Evidence& evidence, const base::ArmVerdict& arm) {
  if (ran_out_of_memory(arm)) return true;
  return arm.figures && evidence.study.plan.budget_per_rank_bytes && !meets_budget(evidence.study.plan, arm);
}

std::int64_t activation_bytes(const protocol::Attribution& attribution) { return uncovered_activation_bytes(attribution, {}); }

// Boundaries that no arm of the group has measured alone, in the order in which they are to be tried.
std::vector<std::string> open_boundaries(const Evidence& evidence, const std::string& group_id) {
  std::vector<std::string> open;
  for (const char* label : kBoundaries)
    if (const base::ArmVerdict* arm = arm_of_label(evidence, group_id, label); arm == nullptr || arm->num_judged == 0)
      open.emplace_back(label);
  return open;
}

std::string command_of(const Evidence& evidence, const TellingRun& run) {
  for (const char* label : kBoundaries)
    if (const base::ArmVerdict* arm = arm_of_label(evidence, run.row.group_id, label);
        arm != nullptr && meets_budget(evidence.study.plan, *arm))
      return study_command("show", {arm->arm}, evidence.study.plan);
  const std::vector<std::string> open = open_boundaries(evidence, run.row.group_id);
  return open.empty() ? run_command(evidence.study.plan, {"strategy.kind=escalate"}) : measure_labels_command(evidence.study.plan, open);
}

std::string other_causes(const base::AttributedPeak& peak) {
  return "what no label lowers: the peak is in " + std::string(protocol::to_string(peak.phase)) +
         ", not in the optimizer or in the synchronisation of gradients";
}

std::string steps_text(const Evidence& evidence, const std::string& group_id) {
  std::string tried;
  std::string open;
  for (const char* label : kBoundaries) {
    const base::ArmVerdict* arm = arm_of_label(evidence, group_id, label);
    if (arm == nullptr || arm->num_judged == 0) {
      open += (open.empty() ? "" : ", then ") + std::string(label);
      continue;
    }
    const bool is_enough = meets_budget(evidence.study.plan, *arm);
    tried += (tried.empty() ? "" : ", ") + std::string(label) + (is_enough ? " is enough" : " is not enough");
    if (is_enough) return "Measured: " + tried + ".";
  }
  const std::string measured = tried.empty() ? "" : "Measured: " + tried + ". ";
  return measured + (open.empty() ? "Take more ranks, a union of labels or full recompute." : "Measure " + open + ".");
}

}  // namespace

std::vector<base::Diagnosis> find_high_moe_peak(const Evidence& evidence, std::string_view symptom) {
  return find_in_runs(evidence, symptom, [&](const TellingRun& run) -> std::optional<Found> {
    if (!run.arm.is_control || !is_too_large(evidence, run.arm)) return std::nullopt;
    const auto peak = attributed_peak(run.attempt);
    if (!peak || no_label_lowers(peak->phase)) return std::nullopt;
    const std::int64_t inside = covered_bytes(peak->attribution, {"moe"});
    const std::int64_t all = activation_bytes(peak->attribution);
    if (inside == 0 || 2 * inside < all) return std::nullopt;
    return Found{"MoE layers hold " + base::bytes_text(inside) + " of " + base::bytes_text(all) + " of activations on " +
                     moment_text(*peak) + ": moe_act would drop up to " + base::bytes_text(covered_bytes(peak->attribution, {"moe_act"})) +
                     ", layernorm up to " + base::bytes_text(covered_bytes(peak->attribution, {"layernorm"})) + ", moe up to " +
                     base::bytes_text(inside) + ".",
                 steps_text(evidence, run.row.group_id), other_causes(*peak), command_of(evidence, run)};
  });
}

}  // namespace rematch::rules

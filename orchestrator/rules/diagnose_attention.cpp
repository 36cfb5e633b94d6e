// core_attn without effect, and multi-latent attention that runs out of memory in spite of it.
#include <array>
#include <utility>

#include "orchestrator/base/number_text.h"
#include "orchestrator/rules/attribution.h"
#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/next_command.h"

namespace rematch::rules {

namespace {

using base::AttributedPeak;

// Narrow boundaries, whose regions are looked at for what to measure next.
constexpr std::array<const char*, 6> kNarrowLabels = {"mla_up_proj", "moe_act", "layernorm", "gdn_norm_out", "mlp", "shared_experts"};

struct Change {
  std::string against;
  std::int64_t bytes = 0;
  std::optional<double> fraction;
  std::string basis;  // of a failed arm
};

std::optional<Change> change_of(const Evidence& evidence, const base::ArmVerdict& arm) {
  if (arm.effect) return Change{arm.effect->against, arm.effect->peak_delta_bytes, arm.effect->peak_delta_fraction, ""};
  if (!arm.failed_comparison || !arm.failed_comparison->step) return std::nullopt;
  for (const base::ArmVerdict& control : evidence.verdict.arms)
    if (control.is_control && control.group_id == arm.group_id)
      return Change{control.arm, arm.failed_comparison->peak_delta_bytes, arm.failed_comparison->peak_delta_fraction,
                    " after step " + std::to_string(*arm.failed_comparison->step)};
  return std::nullopt;
}

std::string why_without_effect(const TellingRun& run, const std::optional<AttributedPeak>& peak, const std::string& against) {
  std::string text;
  if (run.attempt.trial.backend.attention == "fused") text += " Fused attention recomputes its internals by itself.";
  if (!peak) return text;
  text += " The peak of " + against + " is on " + moment_text(*peak);
  if (no_label_lowers(peak->phase)) return text + ", which no label lowers.";
  return text + ": regions of core_attn hold " + base::bytes_text(covered_bytes(peak->attribution, {"core_attn"})) + " of " +
         base::bytes_text(protocol::total_bytes(peak->attribution)) + " there.";
}

// The narrow boundary whose regions hold the most there, with its bytes; none where nothing is known of any.
std::pair<std::string, std::int64_t> largest_boundary(const std::optional<AttributedPeak>& peak) {
  std::pair<std::string, std::int64_t> largest;
  for (const char* label : kNarrowLabels)
    if (const std::int64_t bytes = peak ? covered_bytes(peak->attribution, {label}) : 0; bytes > largest.second) largest = {label, bytes};
  return largest;
}

// nullopt: it was not measured alone in this study.
std::optional<std::string> what_became_of(const Evidence& evidence, const TellingRun& run, const std::string& label) {
  const base::ArmVerdict* arm = arm_of_label(evidence, run.row.group_id, label);
  if (arm == nullptr || arm->num_judged == 0) return std::nullopt;
  std::string text = label + " alone came to " + std::string(to_string(arm->outcome)) + " in this study";
  if (arm->effect) text += ", its peak is changed by " + change_text(arm->effect->peak_delta_bytes, arm->effect->peak_delta_fraction);
  return text;
}

std::string next_boundary(const Evidence& evidence, const TellingRun& run, const std::optional<AttributedPeak>& peak,
                          const std::string& against) {
  const auto [label, bytes] = largest_boundary(peak);
  if (label.empty()) return "See what the peak is made of with `rematch show '" + against + "'`, and measure a boundary that lies in it.";
  return what_became_of(evidence, run, label).value_or("Measure " + label + ", alone") + ": its regions hold " + base::bytes_text(bytes) +
         " at the peak of " + against + ".";
}

// To measure the boundary that `label` names, or to see what became of it.
std::string command_of(const Evidence& evidence, const TellingRun& run, const std::string& label, const std::string& otherwise) {
  const base::StudyPlan& plan = evidence.study.plan;
  if (label.empty()) return study_command("show", {otherwise}, plan);
  const base::ArmVerdict* arm = arm_of_label(evidence, run.row.group_id, label);
  if (arm == nullptr) return measure_labels_command(plan, {label});
  return arm->num_judged > 0 ? study_command("show", {arm->arm}, plan) : run_command(plan);
}

std::string acting_text(const base::AttemptRows& attempt, const std::string& label) {
  const std::string activity = activity_text(attempt, label);
  return activity.empty() ? "" : "an inactive label: " + activity;
}

}  // namespace

std::vector<base::Diagnosis> find_core_attn_without_effect(const Evidence& evidence, std::string_view symptom) {
  return find_in_runs(evidence, symptom, [&](const TellingRun& run) -> std::optional<Found> {
    if (run.row.recompute.recompute_modules != std::vector<std::string>{"core_attn"}) return std::nullopt;
    const auto change = change_of(evidence, run.arm);
    if (!change || !is_hardly_any(change->fraction)) return std::nullopt;
    const base::AttemptRows* against = telling_attempt(evidence, change->against);
    const auto peak = against == nullptr ? std::nullopt : attributed_peak(*against);
    return Found{"core_attn changes the hot rank's peak by " + change_text(change->bytes, change->fraction) + " against " +
                     change->against + change->basis + "." + why_without_effect(run, peak, change->against),
                 next_boundary(evidence, run, peak, change->against), acting_text(run.attempt, "core_attn"),
                 command_of(evidence, run, largest_boundary(peak).first, change->against)};
  });
}

std::vector<base::Diagnosis> find_mla_out_of_memory(const Evidence& evidence, std::string_view symptom) {
  return find_in_runs(evidence, symptom, [&](const TellingRun& run) -> std::optional<Found> {
    const protocol::RecomputeSpec& recompute = run.row.recompute;
    if (!selects(recompute, "core_attn") || selects(recompute, "mla_up_proj") || !ran_out_of_memory(run.arm)) return std::nullopt;
    const auto peak = attributed_peak(run.attempt);
    if (!peak || !run.attempt.failure) return std::nullopt;
    const std::int64_t expanded = covered_bytes(peak->attribution, {"mla_up_proj"});
    const std::int64_t core = covered_bytes(peak->attribution, {"core_attn"});
    if (expanded == 0 || expanded <= core) return std::nullopt;
    return Found{"With core_attn it still runs out of memory, on " + moment_text(*peak) + ": the expanded q, k and v (mla_up_proj) hold " +
                     base::bytes_text(expanded) + " there, what core_attn covers " + base::bytes_text(core) + ", of " +
                     base::bytes_text(protocol::total_bytes(peak->attribution)) + ".",
                 what_became_of(evidence, run, "mla_up_proj").value_or("Measure mla_up_proj, alone") +
                     "; add core_attn to it only where a comparison of the two shows that it pays.",
                 no_fragmentation_text(run.arm), command_of(evidence, run, "mla_up_proj", run.arm.arm)};
  });
}

}  // namespace rematch::rules

// Memory that recompute cannot give back: the allocator's, and the optimizer's.
#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/fragmentation.h"
#include "orchestrator/rules/next_command.h"
#include "orchestrator/rules/optimizer_bound.h"

namespace rematch::rules {

namespace {

std::string numbers_of(const FragmentationSign& sign) {
  return "rank " + std::to_string(sign.rank) + (sign.step ? ", step " + std::to_string(*sign.step) : "") + ": " +
         base::bytes_text(sign.reserved_bytes) + " were reserved and " + base::bytes_text(sign.allocated_bytes) + " allocated, " +
         std::to_string(sign.num_alloc_retries) + " retries, the largest free block had " + base::bytes_text(sign.largest_free_block_bytes);
}

std::string finding_of(const FragmentationSign& sign) {
  if (sign.requested_bytes)
    return "A request of " + base::bytes_text(*sign.requested_bytes) + " failed though " +
           base::bytes_text(sign.reserved_bytes - sign.allocated_bytes) + " were reserved and free (" + numbers_of(sign) + ").";
  return "Reserved memory is high while allocated memory is stable, grown by " + base::bytes_text(sign.growth_bytes.value_or(0)) +
         " in the last third of the run (" + numbers_of(sign) + " after warm-up).";
}

// Of a failed request the device's size, of a run that ended well that what it holds stood still.
std::string ruled_out_of(const FragmentationSign& sign, const TellingRun& run) {
  if (!sign.requested_bytes)
    return "a peak that still grows: allocated memory grew by " + base::bytes_text(sign.growth_bytes.value_or(0)) +
           ", which steady state allows";
  const auto& capacity = run.attempt.failure ? run.attempt.failure->capacity_bytes : std::nullopt;
  if (!capacity) return "";
  return "a device that is too small for what was held: " + base::bytes_text(sign.allocated_bytes + *sign.requested_bytes) +
         " with the request, of " + base::bytes_text(*capacity);
}

std::string command_of(const Evidence& evidence, const TellingRun& run) {
  if (run.attempt.trial.backend.expandable_segments) return study_command("show", {run.arm.arm}, evidence.study.plan);
  return run_command(evidence.study.plan, {"backend.expandable_segments=true"});
}

std::string next_step_of(const TellingRun& run) {
  if (run.attempt.trial.backend.expandable_segments)
    return "Expandable segments are in use already: lower the peak, by recompute or with more ranks.";
  return "Before any recompute, measure the control and the arms again with expandable segments "
         "(PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True), as a group of their own.";
}

// The setting of the optimizer that is not in use yet and keeps less a rank.
std::string smaller_optimizer_command(const Evidence& evidence, const std::string& arm) {
  const base::AttemptRows* attempt = telling_attempt(evidence, arm);
  if (attempt == nullptr) return "";
  if (!attempt->trial.optimizer.use_distributed_optimizer)
    return run_command(evidence.study.plan, {"optimizer.use_distributed_optimizer=true"});
  if (!attempt->trial.optimizer.use_precision_aware_optimizer)
    return run_command(evidence.study.plan, {"optimizer.use_precision_aware_optimizer=true"});
  return study_command("show", {arm}, evidence.study.plan);
}

}  // namespace

std::vector<base::Diagnosis> find_fragmentation(const Evidence& evidence, std::string_view symptom) {
  return find_in_runs(evidence, symptom, [&](const TellingRun& run) -> std::optional<Found> {
    const auto sign = fragmentation_sign(evidence.study, run.arm.arm);
    if (!sign) return std::nullopt;
    return Found{finding_of(*sign), next_step_of(run), ruled_out_of(*sign, run), command_of(evidence, run)};
  });
}

std::vector<base::Diagnosis> find_optimizer_bound_symptom(const Evidence& evidence, std::string_view symptom) {
  const auto bound = find_optimizer_bound(evidence.study, evidence.verdict);
  if (!bound) return {};
  const std::int64_t rest = bound->allocated_bytes - bound->parameter_bytes - bound->gradient_bytes - bound->optimizer_state_bytes;
  return {{.symptom = std::string(symptom),
           .arm = "",
           .finding = optimizer_bound_text(*bound, base::is_predicted(evidence.study.plan)),
           .next_step = "Take more ranks, or an optimizer that keeps fewer bytes a parameter.",
           .why = {},
           .ruled_out = "activations, which labels could lower: all that is neither parameters nor gradients nor optimizer state is " +
                        base::bytes_text(rest) + " of " + base::bytes_text(bound->allocated_bytes),
           .command = smaller_optimizer_command(evidence, bound->arm)}};
}

}  // namespace rematch::rules

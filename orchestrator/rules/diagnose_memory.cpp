// Memory that recompute cannot give back: the allocator's, and the optimizer's.
#include "orchestrator/base/number_text.h"
#include "orchestrator/base/predicted.h"
#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/fragmentation.h"
#include "orchestrator/rules/optimizer_bound.h"

namespace rematch::rules {

namespace {

std::string numbers_of(const FragmentationSign& sign) {
  return "rank " + std::to_string(sign.rank) + (sign.step ? ", step " + std::to_string(*sign.step) : "") + ": " +
         base::bytes_text(sign.reserved_bytes) + " were reserved and " + std::to_string(sign.allocated_bytes) + " allocated, " +
         std::to_string(sign.num_alloc_retries) + " retries, the largest free block had " + base::bytes_text(sign.largest_free_block_bytes);
}

std::string finding_of(const FragmentationSign& sign) {
  if (sign.requested_bytes)
    return "A request of " + base::bytes_text(*sign.requested_bytes) + " failed though " +
           base::bytes_text(sign.reserved_bytes - sign.allocated_bytes) + " were reserved and free (" + numbers_of(sign) + ").";
  return "Reserved memory is high while allocated memory is stable, grown by " + base::bytes_text(sign.growth_bytes.value_or(0)) +
         " in the last third of the run (" + numbers_of(sign) + " after warm-up).";
}

std::string next_step_of(const TellingRun& run) {
  if (run.attempt.trial.backend.expandable_segments)
    return "Expandable segments are in use already: lower the peak, by recompute or with more ranks.";
  return "Before any recompute, measure the control and the arms again with expandable segments "
         "(PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True), as a group of their own.";
}

}  // namespace

std::vector<base::Diagnosis> find_fragmentation(const Evidence& evidence, std::string_view symptom) {
  return find_in_runs(evidence, symptom, [&](const TellingRun& run) -> std::optional<Found> {
    const auto sign = fragmentation_sign(evidence.study, run.arm.arm);
    if (!sign) return std::nullopt;
    return Found{finding_of(*sign), next_step_of(run)};
  });
}

std::vector<base::Diagnosis> find_optimizer_bound_symptom(const Evidence& evidence, std::string_view symptom) {
  const auto bound = find_optimizer_bound(evidence.study, evidence.verdict);
  if (!bound) return {};
  return {{std::string(symptom), "", optimizer_bound_text(*bound, base::is_predicted(evidence.study.plan)),
           "Take more ranks, or an optimizer that keeps fewer bytes a parameter."}};
}

}  // namespace rematch::rules

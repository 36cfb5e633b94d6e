// A failure that recompute moved: to another rank, or further on.
#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/moved_failure.h"
#include "orchestrator/rules/next_command.h"

namespace rematch::rules {

std::vector<base::Diagnosis> find_moved_to_another_rank(const Evidence& evidence, std::string_view symptom) {
  return find_in_arms(evidence, symptom, [&](const base::ArmRow&, const base::ArmVerdict& arm) -> std::optional<Found> {
    if (!arm.moved || arm.moved->from.rank == arm.moved->to.rank) return std::nullopt;
    const bool is_pipeline = arm.moved->from_rank.pipeline_size > 1;
    return Found{moved_failure_text(*arm.moved) + " " + moved_ranks_text(arm.arm, *arm.moved),
                 "Compare the peaks rank by rank and fit what that rank holds: " +
                     std::string(is_pipeline ? "full:block, full:uniform, another split of the layers, or labels by what that stage holds."
                                             : "labels by what it holds, or an even load of its experts."),
                 no_fragmentation_text(arm), study_command("show", {arm.arm}, evidence.study.plan)};
  });
}

std::vector<base::Diagnosis> find_failed_further(const Evidence& evidence, std::string_view symptom) {
  return find_in_arms(evidence, symptom, [&](const base::ArmRow&, const base::ArmVerdict& arm) -> std::optional<Found> {
    if (!arm.moved || !arm.moved->got_further) return std::nullopt;
    return Found{
        moved_failure_text(*arm.moved) + " It held " + request_text(arm.moved->to) + ".",
        "Count it as evidence of where the limit is now, not as a pass: that wants the optimizer's state made and the steady steps "
        "completed on every rank. Measure a boundary that lowers what is held there.",
        no_fragmentation_text(arm), study_command("show", {arm.arm}, evidence.study.plan)};
  });
}

}  // namespace rematch::rules

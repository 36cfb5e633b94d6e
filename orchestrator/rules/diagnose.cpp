#include "orchestrator/rules/diagnose.h"

#include <array>

#include "orchestrator/rules/diagnosis_symptoms.h"

namespace rematch::rules {

namespace {

struct Row {
  Symptom symptom;
  std::vector<base::Diagnosis> (*find)(const Evidence& evidence, std::string_view symptom);
};

constexpr std::array kTable = {
    Row{{"fragmentation", "much is reserved, allocated bytes are stable, and the allocator had to retry or failed"}, find_fragmentation},
    Row{{"optimizer-bound", "every arm runs out of memory in the making of the optimizer's state"}, find_optimizer_bound_symptom},
    Row{{"core-attn-without-effect", "core_attn lowers the peak hardly or not at all"}, find_core_attn_without_effect},
    Row{{"mla-out-of-memory-after-core-attn", "multi-latent attention runs out of memory with core_attn"}, find_mla_out_of_memory},
    Row{{"moe-peak-stays-high", "a mixture of experts does not fit, and its own activations dominate"}, find_high_moe_peak},
    Row{{"overlap-conflict", "a label recomputes what is overlapped"}, find_overlap_conflict},
    Row{{"label-without-effect", "a label is inactive, outside the measured layers, or bypassed"}, find_label_without_effect},
    Row{{"full-recompute-with-cuda-graphs", "full recompute inside of graphs that are not of the whole iteration"},
        find_full_recompute_with_graphs},
    Row{{"out-of-memory-moved-to-another-rank", "with recompute another rank runs out of memory"}, find_moved_to_another_rank},
    Row{{"failed-further", "with recompute the run gets further and still runs out of memory"}, find_failed_further},
};

}  // namespace

std::vector<Symptom> symptoms() {
  std::vector<Symptom> all;
  for (const Row& row : kTable) all.push_back(row.symptom);
  return all;
}

std::vector<base::Diagnosis> diagnose(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<base::Diagnosis> all;
  const Evidence evidence{study, verdict};
  for (const Row& row : kTable)
    for (base::Diagnosis& one : row.find(evidence, row.symptom.id)) all.push_back(std::move(one));
  return all;
}

}  // namespace rematch::rules

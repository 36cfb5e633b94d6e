#include "orchestrator/rules/diagnose.h"

#include <array>

#include "orchestrator/rules/diagnosis_gaps.h"
#include "orchestrator/rules/diagnosis_symptoms.h"
#include "orchestrator/rules/next_command.h"

namespace rematch::rules {

namespace {

struct Row {
  Symptom symptom;
  std::vector<base::Diagnosis> (*find)(const Evidence& evidence, std::string_view symptom);
  Gap gap;
};

constexpr std::array kTable = {
    Row{{"fragmentation", "much is reserved, allocated bytes are stable, and the allocator had to retry or failed",
         "The allocator held enough bytes, in pieces of which none was large enough: larger or growing segments give that memory back "
         "without "
         "any recompute."},
        find_fragmentation,
        gap_of_runs},
    Row{{"optimizer-bound", "every arm runs out of memory in the making of the optimizer's state",
         "That state is made once, after the first backward, when the activations are gone: recompute lowers nothing there."},
        find_optimizer_bound_symptom,
        gap_of_optimizer_bound},
    Row{{"core-attn-without-effect", "core_attn lowers the peak hardly or not at all",
         "The label drops the internals of the attention core; where the core keeps few of them, or the peak is at another moment, that "
         "lowers nothing."},
        find_core_attn_without_effect,
        gap_of_core_attn},
    Row{{"mla-out-of-memory-after-core-attn", "multi-latent attention runs out of memory with core_attn",
         "Multi-latent attention expands its latents to full q, k and v, which core_attn keeps and mla_up_proj drops."},
        find_mla_out_of_memory,
        gap_of_mla},
    Row{{"moe-peak-stays-high", "a mixture of experts does not fit, and its own activations dominate",
         "Labels outside of the MoE layers cannot drop what those layers hold, and that is at least half of the activations."},
        find_high_moe_peak,
        gap_of_moe},
    Row{{"overlap-conflict", "a label recomputes what is overlapped",
         "What is overlapped runs beside other work, and a replay of it would run at another time: the two exclude each other."},
        find_overlap_conflict,
        no_gap},
    Row{{"label-without-effect", "a label is inactive, outside the measured layers, or bypassed",
         "A label that drops nothing, or nothing where the peak is, cannot lower the peak."},
        find_label_without_effect,
        gap_of_labels},
    Row{{"full-recompute-with-cuda-graphs", "full recompute inside of graphs that are not of the whole iteration",
         "A captured graph replays what it captured; a replay of whole layers by autograd is no part of it."},
        find_full_recompute_with_graphs,
        no_gap},
    Row{{"out-of-memory-moved-to-another-rank", "with recompute another rank runs out of memory",
         "The rank that was full has room now, and another one, which holds other layers or other experts, has become the limit."},
        find_moved_to_another_rank,
        gap_of_moved},
    Row{{"failed-further", "with recompute the run gets further and still runs out of memory",
         "The label did lower what was held where the control failed; the limit is a later moment now."},
        find_failed_further,
        gap_of_moved},
};

// A command that runs the sweep again is whole only with what the study was given besides its file.
void mention_options(base::Diagnosis& one) {
  if (one.command.starts_with("rematch run ")) one.next_step += " Type the command" + std::string(kWithOptions).substr(1) + ".";
}

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
    for (base::Diagnosis& one : row.find(evidence, row.symptom.id)) {
      one.why = row.symptom.why;
      mention_options(one);
      all.push_back(std::move(one));
    }
  return all;
}

std::vector<base::UnjudgedSymptom> find_unjudged(const base::StudyRows& study, const base::StudyVerdict& verdict) {
  std::vector<base::UnjudgedSymptom> all;
  const Evidence evidence{study, verdict};
  for (const Row& row : kTable)
    for (std::size_t i = 0; i < verdict.arms.size(); ++i)
      if (std::string reason = row.gap(evidence, study.plan.arms[i], verdict.arms[i]); !reason.empty())
        all.push_back({std::string(row.symptom.id), verdict.arms[i].arm, std::move(reason)});
  return all;
}

}  // namespace rematch::rules

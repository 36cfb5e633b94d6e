#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{
        "fragmentation", "Memory is reserved and not usable: the allocator holds enough bytes in pieces of which none is large enough.",
        "A failed request was no larger than reserved less allocated bytes, and larger than the largest free block or at most 1 MiB, which "
        "comes from blocks of its own; or retries after warm-up, on a plateau, with more than a tenth of the reserved bytes unallocated.",
        "Measure again with `--set backend.expandable_segments=true` before any recompute."},
    Page{"optimizer-bound", "Every arm runs out of memory while the optimizer's state is made, so recompute cannot help.",
         "Every arm that ran ended in stage optimizer_init, out of memory.", "More ranks, a distributed or precision-aware optimizer."},
    Page{"core-attn-without-effect", "core_attn lowers the peak hardly: fused attention keeps little, or the peak is elsewhere.",
         "core_attn alone changes the hot rank's peak by more than -0.5 %, against the reference or at the last common step.",
         "Measure the boundary that holds most at the peak; the finding names it."},
    Page{"mla-out-of-memory-after-core-attn", "Multi-latent attention runs out of memory though its core is recomputed.",
         "With core_attn and without mla_up_proj it runs out of memory, and regions of mla_up_proj hold more than those of core_attn.",
         "Measure mla_up_proj alone."},
    Page{"moe-peak-stays-high", "A mixture of experts does not fit, and what its own layers hold dominates.",
         "The control does not fit, or not in the budget, in a phase that labels lower, and regions of moe hold at least half of the "
         "activations.",
         "moe_act, then layernorm, then moe, until one is enough."},
    Page{"overlap-conflict", "A label would recompute what is overlapped with other work, and is refused.",
         "An arm is refused by rule L6, M1, M2 or M3.",
         "Keep the overlap and measure a boundary inside of it, or switch the overlap off for the whole study."},
    Page{"label-without-effect", "A label that does nothing: inactive, bypassed, or outside of the layers that peak.",
         "No region in the model or on any rank; regions that were wrapped and never replayed; or none on the hot rank while the peak "
         "changes hardly.",
         "Leave it out, or measure a label that the hot rank has regions of."},
    Page{"full-recompute-with-cuda-graphs", "Full recompute inside of CUDA graphs that are not of the whole iteration is refused.",
         "An arm is refused by rule C1.", "`--set features.cuda_graph_impl=full_iteration`, or none."},
    Page{"out-of-memory-moved-to-another-rank", "With recompute another rank runs out of memory than without.",
         "Control and candidate ran out of memory on different ranks.",
         "Compare the peaks rank by rank and fit what the new rank holds: another split of layers, or labels of its own."},
    Page{"failed-further", "With recompute the run gets further and still runs out of memory.",
         "The candidate ran out of memory at a later step, stage or phase than the control.",
         "It is evidence of where the limit is now, not a pass: lower what is held there."},
};

}  // namespace

std::span<const Page> symptom_pages() { return kPages; }

}  // namespace rematch::report

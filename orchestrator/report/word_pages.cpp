#include <array>

#include "orchestrator/report/pages.h"

namespace rematch::report {

namespace {

constexpr std::array kPages = {
    Page{"equal", "Not worth telling apart. Of time it is a finding, not a lack of one.",
         "Time: the whole interval lies within plus or minus the smallest effect, also where it leaves out 0. Memory: repeats agree to the "
         "byte and the difference is 0, or the interval holds 0 and lies within what a peak may grow by in steady state.",
         "Choose by something else: the narrower setting, or the other of the two."},
    Page{"faster", "The arm takes less time a step than what it is set against.",
         "The simultaneous 95 % interval of the difference lies below 0, and reaches beyond the smallest effect.",
         "Check the drift and the losses before believing that recompute saves time; less pressure on the allocator may be the reason."},
    Page{"slower", "The arm takes more time a step than what it is set against.",
         "The simultaneous 95 % interval of the difference lies above 0, and reaches beyond the smallest effect.",
         "Weigh it against the memory that it gives back; `rematch compare ARM CONTROL` has both."},
    Page{"undecided", "The numbers say neither that the two are equal nor that they differ.",
         "Time: the interval holds 0 and reaches beyond the smallest effect. Memory: the interval holds 0 and reaches beyond what a peak "
         "may grow by in steady state, or there is one run of each alone.",
         "Run as many blocks as `wants` says (`--set measure.blocks=N`), or accept a larger smallest effect."},
    Page{"lower", "The hot rank's peak is below that of what it is set against.",
         "Repeats agree to the byte and the difference is negative, or the whole interval of the difference is.",
         "See whether the saving is censored, and whether another rank is the hot one now."},
    Page{"higher", "The hot rank's peak is above that of what it is set against.",
         "Repeats agree to the byte and the difference is positive, or the whole interval of the difference is.",
         "Replays hold memory of their own: see in which phase the peak is with `rematch show ARM`."},
    Page{"at-least", "The saving that is shown may be too small: see censored.", "The arm's peak sits in a phase that no label lowers.",
         "Compare activation peaks."},
    Page{"censored", "The label may save more than is shown, since the peak is now at a moment that no label reaches.",
         "The arm's peak sits in grad_sync, optimizer_init or optimizer.",
         "Compare activation peaks; to lower the peak itself, lower what the optimizer holds."},
    Page{"reference", "What the others are set against: the control, or the narrowest passing arm where no control fits.",
         "By the rule of the group's reference.", "See reference-not-control for what the second means."},
    Page{"reference-not-control", "The control does not fit, so differences are set against the narrowest arm that passes.",
         "No judged run of the control passed.",
         "Read such differences as between two arms, never as what recompute saves or costs in all."},
    Page{"not-comparable", "Two figures that may not be set against each other: no difference is shown.",
         "Settings or machines differ beside recompute, provenances differ, or the two have no step in common.",
         "`rematch compare A B` lists the fields that differ."},
    Page{"no-interval", "A difference of step times without an interval, and so without a verdict.",
         "Too few runs, or no block joins the two arms.", "Run more blocks (`--set measure.blocks=N`)."},
    Page{"pareto", "No other arm of the group is at most as high in peak and in step time and lower in one of them.",
         "Over passing arms of one group and provenance.", "Choose among these by what matters more."},
    Page{"hot-rank", "The rank whose allocated peak is the largest: it decides whether a setting fits.",
         "The largest allocated peak over all steps and phases, the lowest rank on a tie.",
         "Lower what that rank holds; others have room."},
    Page{"region",
         "A part of a layer that a label may wrap. A block of memory belongs to the regions that were open when it was allocated.",
         "By the trainer's marks; joined by / from the outermost, so moe/moe_act is inside of moe.",
         "`rematch explain LABEL` says what the regions of a label drop and keep."},
    Page{"full", "Full recompute: whole layers are checkpointed in groups, uniformly or a number of them.",
         "recompute_granularity: full with recompute_method and recompute_num_layers.",
         "It lowers the activation peak the most and costs the most time; try labels first."},
};

}  // namespace

std::span<const Page> word_pages() { return kPages; }

}  // namespace rematch::report
